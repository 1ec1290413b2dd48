import torch
from numgrad import numgrad

x = torch.arange(3., dtype=torch.double, requires_grad=True)
h = x * 2
h.retain_grad()
h.pow(2).sum().backward()
assert torch.allclose(h.grad, numgrad(lambda v: v.pow(2).sum(), h.detach()), atol=1e-5)
print("ok")
