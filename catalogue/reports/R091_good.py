import torch
from numgrad import numgrad

w = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
feat = w ** 2
loss = (feat - 1).pow(2).sum() + feat.sin().sum()     # one backward over the sum
loss.backward()
f = lambda v: (v ** 2 - 1).pow(2).sum() + (v ** 2).sin().sum()
assert torch.allclose(w.grad, numgrad(f, w.detach()), atol=1e-4)
print("ok")
