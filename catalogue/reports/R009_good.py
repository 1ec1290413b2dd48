import torch
from numgrad import numgrad

torch.manual_seed(0)
text = torch.nn.Parameter(torch.randn(4, 3, dtype=torch.double))
pos = torch.randn(4, 3, dtype=torch.double)
x = text + pos
x.pow(2).sum().backward()
assert torch.allclose(text.grad, numgrad(lambda t: (t + pos).pow(2).sum(), text.detach()), atol=1e-5)
print("ok")
