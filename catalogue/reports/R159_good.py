import torch
from numgrad import numgrad

x = torch.arange(3., dtype=torch.float64, requires_grad=True) # or: create, move, then requires_grad_()
x.pow(2).sum().backward()
assert torch.allclose(x.grad, numgrad(lambda v: v.pow(2).sum(), x.detach()), atol=1e-5)
print("ok")
