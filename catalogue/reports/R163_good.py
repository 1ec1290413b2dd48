import torch
from numgrad import numgrad

torch.manual_seed(0)
x = torch.randn(3, dtype=torch.double, requires_grad=True); w = torch.randn(3, dtype=torch.double, requires_grad=True)
g, = torch.autograd.grad((w * x ** 2).sum(), x, create_graph=True)
(g.norm() - 1).pow(2).backward()
X = x.detach()
assert torch.allclose(w.grad, numgrad(lambda v: ((2 * v * X).norm() - 1).pow(2), w.detach()), atol=1e-5)
print("ok")
