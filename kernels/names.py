"""What the inputs, checks, curves and rows of a Procedure are called, for people.

A label or a cell that has a name here is shown by it; any other stands as it is.
"""

from kernels.andrea.names import ANDREA_NAMES
from kernels.marking import gettext_noop

NAMES: dict[str, str] = ANDREA_NAMES | {
    # Special inputs
    "name.row-of-300": gettext_noop("a row of 300s"),
    "name.row-of-zeros": gettext_noop("a row of zeros"),
    "name.unequal-rows": gettext_noop("rows of very unequal size"),
    "name.dx-beyond-fp16": gettext_noop("dx beyond the range of FP16"),
    # Inputs of the contract
    "name.transposed-x": gettext_noop("x transposed"),
    "name.sliced-gamma": gettext_noop("gamma cut from a longer row"),
    "name.three-dimensions": gettext_noop("x with three dimensions"),
    "name.short-gamma": gettext_noop("gamma too short"),
    "name.gamma-elsewhere": gettext_noop("gamma on another device"),
    "name.float64-x": gettext_noop("x in FP64"),
    "name.float64-gamma": gettext_noop("gamma in FP64"),
    "name.bfloat16": gettext_noop("x in BF16"),
    "name.float32-x-float32-gamma": gettext_noop("x and gamma in FP32"),
    "name.float16-x-float32-gamma": gettext_noop("x in FP16, gamma in FP32"),
    "name.epsilon-zero": gettext_noop("ε = 0"),
    "name.epsilon-negative": gettext_noop("ε below zero"),
    "name.epsilon-infinite": gettext_noop("ε infinite"),
    "name.epsilon-nan": gettext_noop("ε = NaN"),
    "name.epsilon-text": gettext_noop("ε as text"),
    "name.no-rows": gettext_noop("no row at all"),
    "name.no-columns": gettext_noop("no column at all"),
    "name.most-columns": gettext_noop("the widest row accepted"),
    "name.one-column-too-many": gettext_noop("one column too many"),
    "name.scratch-exactly": gettext_noop("scratch filled to the last byte"),
    "name.one-row-too-many": gettext_noop("one row too many for the scratch"),
    "name.dy-shape": gettext_noop("dy of another shape"),
    "name.dy-dtype": gettext_noop("dy of another dtype"),
    "name.dy-transposed": gettext_noop("dy transposed"),
    "name.dy-elsewhere": gettext_noop("dy on another device"),
    "name.expanded-dy-through-autograd": gettext_noop("an expanded dy through Autograd"),
    "name.accepted": gettext_noop("accepted"),
    "name.refused": gettext_noop("refused"),
    # Checks that are not about one input
    "name.weights": gettext_noop("the same weights"),
    "name.initial-output": gettext_noop("first outputs"),
    "name.initial-gradient": gettext_noop("first gradients"),
    "name.calls-forward": gettext_noop("forward passes counted"),
    "name.calls-backward": gettext_noop("backward passes counted"),
    "name.test-mse": gettext_noop("test MSE"),
    "name.reload": gettext_noop("reloaded weights"),
    "name.outputs": gettext_noop("outputs after reloading"),
    "name.differs-before": gettext_noop("different before loading"),
    "name.damaged-refused": gettext_noop("a damaged file is refused"),
    "name.no-leftovers": gettext_noop("no temporary file is left"),
    "name.nothing-deleted": gettext_noop("nothing was deleted"),
    # Judges of the exercise, and the divisor they judge
    "name.oracle": gettext_noop("oracle"),
    "name.accepts": gettext_noop("accepts"),
    "name.objects": gettext_noop("objects"),
    "name.right": "N",
    "name.block": "BLOCK",
    # Curves, partitions, facts
    "name.reference": gettext_noop("reference"),
    "name.kernel": gettext_noop("kernel"),
    "name.forward": gettext_noop("forward"),
    "name.backward": gettext_noop("backward"),
    "name.train": gettext_noop("training"),
    "name.validation": gettext_noop("validation"),
    "name.test": gettext_noop("test"),
    "name.all": gettext_noop("all three"),
    "name.closed form": gettext_noop("closed form"),
    "name.processor": gettext_noop("processor"),
    "name.device": gettext_noop("device"),
    "name.kernels": gettext_noop("kernels run on"),
    "name.interpreter": gettext_noop("Triton’s interpreter"),
    "name.folder": gettext_noop("folder"),
    "name.file": gettext_noop("file"),
}
