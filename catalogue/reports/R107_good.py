import torch
from numgrad import numgrad

torch.manual_seed(0)
img = (torch.randn(2, 3, dtype=torch.double) * 0.01).requires_grad_(True)
opt = torch.optim.SGD([img], lr=0.1)
(img - 1).pow(2).sum().backward()
assert torch.allclose(img.grad, numgrad(lambda v: (v - 1).pow(2).sum(), img.detach()), atol=1e-6)
opt.step(); print("ok")
