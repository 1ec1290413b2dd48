import torch
from numgrad import numgrad
import torch.nn.functional as F

torch.manual_seed(0)
img = torch.randn(1, 1, 4, 4, dtype=torch.double, requires_grad=True)
grid = torch.rand(1, 3, 3, 2, dtype=torch.double) * 2 - 1
def pen(v, create):
    y = F.grid_sample(v, grid, align_corners=False)
    g, = torch.autograd.grad(y.pow(2).sum(), v, create_graph=create)
    return g.pow(2).sum()
pen(img, True).backward()
assert torch.allclose(img.grad, numgrad(lambda v: pen(v.clone().requires_grad_(), False), img.detach()), atol=1e-5)
print("ok")
