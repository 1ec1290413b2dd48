import torch
from numgrad import numgrad

x = torch.arange(3., dtype=torch.double, requires_grad=True)
buf = torch.empty(3, dtype=torch.double)
y = torch.add(x, 1)
buf.copy_(y)                              # copy_ IS differentiable (unlike out=)
buf.pow(2).sum().backward()
assert torch.allclose(x.grad, numgrad(lambda v: (v + 1).pow(2).sum(), x.detach()), atol=1e-5)
print("ok")
