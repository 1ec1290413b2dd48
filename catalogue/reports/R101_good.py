import torch
from numgrad import numgrad

pred = torch.arange(5., dtype=torch.double, requires_grad=True)
wts = torch.tensor([1., 0., 2., 1., 1.], dtype=torch.double)
loss = (wts * torch.nn.functional.mse_loss(pred, torch.zeros(5, dtype=torch.double), reduction="none")).sum() / wts.sum()
loss.backward()
assert torch.allclose(pred.grad, numgrad(lambda v: (wts * v ** 2).sum() / wts.sum(), pred.detach()), atol=1e-5)
print("ok")
