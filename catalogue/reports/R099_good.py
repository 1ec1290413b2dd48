import torch
from numgrad import numgrad

torch.manual_seed(0)
w = torch.randn(2, dtype=torch.double, requires_grad=True)
xs = torch.randn(2, 3, 2, dtype=torch.double)
loss = torch.stack([(x @ w).pow(2).mean() for x in xs])
loss.mean().backward()                    # mean over replicas = loss of the whole batch
f = lambda v: (xs.view(6, 2) @ v).pow(2).mean()
assert torch.allclose(w.grad, numgrad(f, w.detach()), atol=1e-6)
print("ok")
