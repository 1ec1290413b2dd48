import torch
from numgrad import numgrad

torch.manual_seed(0)
x = torch.randn(1, 2, 5, 3, dtype=torch.double, requires_grad=True)
conv = torch.nn.Conv2d(2, 2, 1).double()
def passes(x):
    rows = list(torch.relu(x).split(1, dim=2))        # python list of rows, rebuilt out of place
    for r in range(1, 5):
        rows[r] = rows[r] + torch.relu(conv(rows[r - 1]))
    return torch.cat(rows, 2)
passes(x).pow(2).sum().backward()
with torch.no_grad():
    num = numgrad(lambda v: passes(v).pow(2).sum(), x.detach())
assert torch.allclose(x.grad, num, atol=1e-5)
print("ok")
