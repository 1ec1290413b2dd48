import torch
from numgrad import numgrad

torch.manual_seed(0)
w = torch.randn(4, 9, dtype=torch.double, requires_grad=True)
rot = (w * 1.0).view(4, 3, 3)
const = rot.detach()                      # rebind, do not detach in place
(rot * const).sum().backward()
c = const.clone()
assert torch.allclose(w.grad, numgrad(lambda v: (v.view(4, 3, 3) * c).sum(), w.detach()), atol=1e-6)
print("ok")
