import torch
from numgrad import numgrad

torch.manual_seed(0)
w = torch.randn(4, 6, dtype=torch.double, requires_grad=True)
gate, val = (w * 1.0).split(3, dim=1)
out = val * torch.sigmoid(gate)
out.pow(2).sum().backward()
f = lambda v: (v[:, 3:] * torch.sigmoid(v[:, :3])).pow(2).sum()
assert torch.allclose(w.grad, numgrad(f, w.detach()), atol=1e-6)
print("ok")
