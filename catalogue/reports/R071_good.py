import torch
from numgrad import numgrad

with torch.inference_mode():
    with torch.inference_mode(False):
        x = torch.arange(3., dtype=torch.double, requires_grad=True)
        (x ** 3).sum().backward()
assert torch.allclose(x.grad, numgrad(lambda v: (v ** 3).sum(), x.detach()), atol=1e-5)
print("ok")
