import torch
from numgrad import numgrad

torch.manual_seed(0)
emb = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
final = torch.stack([emb, emb * 0.5]).sum(0)
final.pow(2).sum().backward()
assert torch.allclose(emb.grad, numgrad(lambda v: (1.5 * v).pow(2).sum(), emb.detach()), atol=1e-5)
print("ok")
