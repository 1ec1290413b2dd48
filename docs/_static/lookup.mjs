/*
 * From a pasted text to the pages that explain it. No DOM: browsers and Node 18 run the same code.
 *
 *     lookup(text, catalogue) -> {kind, results, hint}
 *
 * docs/lookup-algorithm.md specifies the steps; tools/explain_template.py takes the same ones in
 * Python, and tests/test_lookup.py holds the two together. Numbers and lists that both need are in
 * TABLES, which is JSON: Python reads it from this file.
 */

export const TABLES = {
  "longestText": 6000000,
  "longestLine": 1500,
  "reach": 12,
  "before": 1500,
  "after": 2500,
  "afterMany": 7000,
  "longestHole": 300,
  "shortest": 18,
  "longestTail": 1000,
  "wantedResults": 5,
  "nearScore": 0.45,
  "mostPlaces": 300,
  "nearWindows": 32,
  "nearTexts": 48,
  "nearLetters": 24000,
  "symptomScore": 0.4,
  "fold": {
    "'": "‘’‚‛′´",
    "\"": "“”„‟″«»「」",
    "-": "‐‑‒–—―−",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff",
    "\n": "\u0085\u2028\u2029",
    "fi": "ﬁ",
    "fl": "ﬂ",
    "ff": "ﬀ",
    "ffi": "ﬃ",
    "ffl": "ﬄ",
    "...": "…",
    "<": "‹",
    ">": "›"
  },
  "entities": {
    "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'", "nbsp": " ", "lsquo": "'",
    "rsquo": "'", "ldquo": "\"", "rdquo": "\"", "hellip": "...", "ndash": "-", "mdash": "-",
    "lbrack": "[", "rbrack": "]", "lsqb": "[", "rsqb": "]", "grave": "'", "lowbar": "_"
  },
  "tags": "a|b|br|blockquote|code|del|details|div|em|font|h[1-6]|hr|i|kbd|li|mark|ol|p|pre|s|samp|small|span|strong|sub|summary|sup|table|tbody|td|th|tr|tt|u|ul",
  "breakingTags": "br|blockquote|div|h[1-6]|hr|li|p|pre|table|td|th|tr",
  "prefixes": [
    "[ \\t]+",
    "[>|│┃║▌•┆]+(?=[ \\t]|$|[^ \\t>])",
    "E(?:[ \\t]{2,}|$)",
    "[-*+][ \\t]+(?![0-9])",
    "```+[A-Za-z]*[ \\t]*",
    "~~~+[A-Za-z]*[ \\t]*",
    "#{1,6}[ \\t]+",
    "(?://|;|%)[ \\t]+",
    "\\[(?:rank|default|node|worker|gpu|proc|process|pid|trainer)?[ :=]?[0-9]{1,6}(?:[,:][0-9]{1,6})?\\](?:<std(?:err|out)>)?[ \\t]*:?",
    "(?:rank|worker|node|gpu)[ _:=-]?[0-9]{1,5}[ \\t]*[:|>][ \\t]?",
    "[0-9]{1,4}: (?=[A-Za-z\\[])",
    "\\([A-Za-z_][A-Za-z0-9_.-]{0,60} pid=[0-9]{1,9}(?:, ip=[0-9.]{1,20})?\\)",
    "[A-Za-z0-9_.-]{1,40}[ \\t]+\\|[ \\t]",
    "\\[?[0-9]{2,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}[T ,]{1,2}[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]{1,9})?(?:Z|[ \\t]?[+-][0-9]{2}:?[0-9]{2})?[ \\t]*\\]?[ \\t]*[-|:,]?",
    "\\[?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:[ \\t]?[AaPp][Mm])?[ \\t]*\\]?[ \\t]*[-|:,]?",
    "[IWEF][0-9]{4}[ \\t]+[0-9:.]{8,20}[ \\t]+[0-9]{1,9}[ \\t]+[^ \\t\\]]{1,80}\\]",
    "\\[?(?:DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|STDERR|STDOUT|stderr|stdout|debug|info|warning|error|fatal)\\]?[ \\t]*(?:[-|]|:[A-Za-z_][A-Za-z0-9_.]{0,60}:|:)?[ \\t]+",
    "[A-Za-z_][A-Za-z0-9_]{0,30}(?:\\.[A-Za-z_][A-Za-z0-9_]{0,30}){0,6}[ \\t]+(?:-|\\|)[ \\t]+(?=[A-Z\\[])",
    "(?:In|Out)[ \\t]?\\[[0-9 *]{0,6}\\]:?",
    "(?:what\\(\\)|C\\+\\+ exception|Original exception)[ \\t]*:[ \\t]*"
  ],
  "leadIn": "(?:that|error|errors|exception|warning|message|messages|says|say|saying|said|reads|read|raises|raised|throws|threw|gives|gave|reports|reported|shows|showed|prints|printed|runtimeerror|valueerror|typeerror)$",
  "goesOn": "^(?:Exception raised from|\\(Triggered internally|Traceback \\(most|File \"|frame #|at::|At:|terminate called)",
  "frameLine": "^(?:File \"|File '|at |in <|frame #|Traceback \\(most|[~/][^ ]*\\.py|[A-Za-z]:\\\\)",
  "common": "positional argument|unexpected keyword argument|Unexpected keyword arguments|has no attribute|object is not iterable|object is not callable|unsupported operand|must be a string or a real number|keyword arguments are not supported|cannot be interpreted as|Could not run '|expanded size of the tensor|cannot be broadcast to indexing|value of Tensor with|in forked subprocess|Unable to cast Python|argument \\S* is not a",
  "own": "grad|backward|autograd|differentia|derivative|leaf|variable|in-? ?place|\\bviews?\\b|\\bctx\\b|mark_dirty|saved|checkpoint|retain|detach|jacobian|hessian|vjp|jvp|vmap|\\bdual\\b|tangent|\\bhooks?\\b|anomaly|inference|reduction in the prior|unscale|gradscaler|volatile|functorch|save_for|freed|second time|zero_\\b",
  "never": "out of memory|device-side assert|CUDA error",
  "ownFrames": "autograd[/\\\\.](?!profiler)|\\bbackward\\(|autograd\\.Function|\\.apply\\(|\\bctx\\b|torch[/\\\\](?:func|_functorch)",
  "call": "torch[/\\\\]nn[/\\\\]modules[/\\\\]module\\.py|return (?:self\\.)?(?:_call_impl|forward_call|_call_impl)\\(|result = self\\.forward\\(|result = forward_call\\(",
  "elsewhere": [
    ["out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED|can't allocate memory", "This is about memory, not about autograd: a smaller batch, `torch.no_grad()` around evaluation and `loss.item()` in what you log all need less."],
    ["device-side assert|CUDA error|CUBLAS_STATUS|CUDNN_STATUS|cuDNN error|illegal memory access|NVRTC|no kernel image|NVIDIA driver", "This comes from a CUDA kernel, not from autograd: run on the CPU, or with CUDA_LAUNCH_BLOCKING=1, to see the line that caused it."],
    ["NCCL|ProcessGroup|c10d|Watchdog|ChildFailedError|Connection (?:reset|refused)|EADDRINUSE|Gloo connect", "This is about the processes talking to each other, not about autograd: look at the first error of every rank."],
    ["mat1 and mat2|size mismatch|must match the size|shape mismatch|shapes? .{0,80}(?:invalid|mismatch|cannot be|not aligned)|invalid for input of size|Sizes of tensors must match|doesn't match the broadcast shape|expected input.{0,40}to have|dimension out of range|Dimension out of range|batch_size|channels, but got|expand\\(", "This is about shapes that do not fit, not about autograd: print the `.shape` of each tensor on the line that raised it."],
    ["same device|Input type .{0,80}weight type|device type", "This is about tensors on different devices, not about autograd: move the model and its inputs to one device."],
    ["expected scalar type|same dtype|dtype|Found dtype|not implemented for '", "This is about the types of numbers that an operation takes, not about autograd: print the `.dtype` of each tensor on the line that raised it."],
    ["index .{0,40}out of (?:range|bounds)|IndexError", "This is an index outside of its range, not an autograd error: print the index and the length on the line that raised it."],
    ["state_dict|Missing key|Unexpected key|PytorchStreamReader|UnpicklingError|invalid load key|weights_only", "This is about loading a checkpoint file, not about autograd: compare the names in the file with those in the model."],
    ["DataLoader worker|collate|Caught .{0,40} in DataLoader", "This was raised while loading data, not by autograd: set num_workers=0 to see the line that raised it."],
    ["KeyError", "This is a missing dictionary key, not an autograd error: print the keys that are there."],
    ["ModuleNotFoundError|ImportError|No module named|undefined symbol|cannot open shared object|DLL load failed", "This is about the installation, not about autograd: the package or one of its libraries was not found."],
    ["SyntaxError|IndentationError|NameError|is not defined|AttributeError|TypeError|FileNotFoundError|PermissionError|OSError|JSONDecodeError|UnicodeDecodeError|ZeroDivisionError|KeyboardInterrupt", "This is an error of Python itself, not of autograd: the last line of the traceback names it and the line above it is where it was raised."]
  ],
  "noError": "No message of autograd is in this text. Paste the whole traceback, with its last line.",
  "notOurs": "This is not one of autograd's messages; the last line of the traceback says what raised it.",
  "notSure": "The text of the message was not found whole; these pages are the closest.",
  "shared": "Other code prints these words too, and nothing in the text speaks of autograd; this is what they mean there.",
  "bySymptom": "No message was found; these pages describe what you see.",
  "concepts": {
    "gradient": "\\bgrads?\\b|gradients?\\b|\\.grad\\b|梯度|导数|勾配|기울기",
    "none": "\\bnone\\b|\\bnull\\b|\\bmissing\\b|\\bempty\\b|nonetype|为空|是空|空值|为 ?none|没有梯度|没有值|不存在",
    "zero": "\\bzeros?\\b|\\b0\\b|为 ?0|为零|是 ?0|是零|全 ?0|全零|等于零|归零",
    "nan": "\\bnans?\\b|not a number|\\binf\\b|infinit|非数|无穷|爆炸|explod",
    "unchanged": "(?:not|n't|never|nothing|without|stop(?:s|ped)?)\\b.{0,30}\\b(?:chang|updat|decreas|improv|learn|train|converg|mov|drop|go(?:es|ing)? down|fall)|\\b(?:flat|stuck|constant|frozen|unchanged|plateaus?|stays? the same|same (?:value|loss)|at chance|no effect|no learning)\\b|不变|不下降|没有?下降|下不去|不降|不更新|没有?更新|没有?变化|不收敛|没有?学习|学不到|不学习|不动|卡住|一直是|不再变|没有?效果|没有?反应|无法收敛",
    "wrong": "\\b(?:wrong|incorrect|differs?|different|mismatch|too (?:large|big|small)|double[ds]?|twice|off by|not equal|unexpected|disagrees?)\\b|错误|不对|不正确|不一致|不同|不匹配|翻倍|两倍|偏大|偏小|不等",
    "loss": "\\bloss(?:es)?\\b|\\bcost\\b|\\bobjective\\b|损失",
    "accuracy": "\\baccurac(?:y|ies)\\b|\\bmetrics?\\b|\\bscore\\b|准确率|精度|指标",
    "weights": "\\b(?:weights?|parameters?|params?|layers?|embeddings?|bias)\\b|参数|权重|层|嵌入|偏置",
    "model": "\\b(?:model|network|net|module|backbone|encoder)\\b|模型|网络|模块",
    "train": "\\b(?:train(?:s|ed|ing)?|learn(?:s|ed|ing)?|fine-?tun\\w*)\\b|训练|学习|微调",
    "memory": "\\b(?:memory|ram|oom|leaks?|grows?|growing|vram)\\b|内存|显存|泄漏|泄露|增长|越来越大",
    "slow": "\\b(?:slow(?:er|s|ly)?|slower and slower|hangs?|hanging|time)\\b|变慢|越来越慢|很慢|卡死|挂起",
    "accumulate": "\\b(?:accumulat\\w*|adds? up|grows? (?:every|each)|zero_grad|sum(?:s|med)? up)\\b|累积|累加|清零|叠加",
    "hook": "\\bhooks?\\b|钩子",
    "inplace": "\\bin-?place\\b|\\bin place\\b|\\b(?:overwrit\\w*|mutat\\w*)\\b|\\+=|原地|就地|inplace|覆盖",
    "view": "\\bviews?\\b|\\b(?:slices?|slicing|reshape|expand\\w*|index\\w*)\\b|视图|切片|索引|扩展",
    "function": "custom (?:autograd )?function|autograd\\.function|\\bbackward is never called|自定义",
    "checkpoint": "\\bcheckpoint(?:s|ing)?\\b|检查点|重计算",
    "optimizer": "\\boptimi[sz]ers?\\b|\\b(?:adam|sgd|adamw|scheduler)\\b|优化器|调度器",
    "second": "second[- ]order|second derivative|double backward|\\bhessian\\b|gradient penalty|higher[- ]order|二阶|高阶|海森|梯度惩罚",
    "distributed": "\\b(?:ddp|distributed\\w*|dataparallel|multi-?gpu|ranks?|gpus?|processes)\\b|分布式|多卡|多 ?gpu|进程",
    "random": "\\b(?:dropout|random\\w*|seed|determinis\\w*|reproduc\\w*)\\b|随机|不可复现|复现",
    "evaluate": "\\b(?:eval(?:uat\\w*)?|inference|test time|validation|val)\\b|推理|评估|验证|测试",
    "norm": "\\bbatch ?norm\\w*\\b|running (?:mean|var|stat\\w*)|归一化|批归一化",
    "precision": "\\b(?:amp|autocast|fp16|half|bf16|mixed precision|float16|scaler)\\b|混合精度|半精度",
    "copy": "\\b(?:deepcopy|copy|clon\\w*|ema|pickl\\w*|sav(?:e|ed|ing))\\b|拷贝|复制|克隆|保存",
    "numpy": "\\b(?:numpy|\\.item|tolist|python (?:number|float))\\b",
    "detach": "\\b(?:detach\\w*|no_grad|\\.data|cut|stop[- ]gradient)\\b|分离|截断|断开|切断",
    "graph": "\\b(?:graph|grad_fn|requires_grad|tracked|history)\\b|计算图",
    "list": "\\b(?:list|dict|modulelist|parameterlist|registered?)\\b|列表|字典|注册",
    "freeze": "\\b(?:freez\\w*|frozen|unfreez\\w*)\\b|冻结|解冻",
    "clip": "\\bclip\\w*\\b|裁剪",
    "mask": "\\b(?:masks?|masked|where|padding)\\b|掩码|遮罩|填充",
    "argmax": "\\b(?:argmax|round|sign|threshold|discrete|integer|quanti[sz]\\w*|one.?hot)\\b|取整|离散|量化|阈值",
    "rebuild": "\\btorch\\.(?:tensor|stack|from_numpy|as_tensor)\\b|重新(?:创建|构造|包装)",
    "compile": "\\b(?:torch\\.compile|compil\\w*|dynamo)\\b|编译"
  },
  "stopWords": "a about after all also am an and any are as at be been before but by can could did do does doing don for from get gets getting got had has have having he help here hi hello how i if in into is it its just like me my no not of on only or our out please s so some still t than thanks that the their then there these they this those to up us use used using very was we were what when where which while who why will with would you your error errors problem code pytorch torch tensor tensors",
  "explain": {
    "writes": "Version {version}, expected {expected}: the tensor was written {times} after the forward pass had saved it.",
    "once": "once",
    "many": "{n} times",
    "output": "“output {index}” counts from 0: it is output number {ordinal} of the operation that made the tensor, not a value.",
    "node": "{node} is the operation that made the tensor, named as in `grad_fn`.",
    "copyslices": "{node} marks a tensor that was written in place through one of its slices.",
    "transposed": "{node} with a shape of two numbers is how a transposed weight looks: the weight of `torch.nn.Linear({rows}, {columns})` in most models.",
    "scalar": "A tensor of shape [] holds a single number.",
    "shape": "A tensor of shape [{shape}]: look for the layer or batch that has these sizes.",
    "cuda": "{tensor_type} is a tensor of {dtype} on a CUDA device.",
    "cpu": "{tensor_type} is a tensor of {dtype} on the CPU.",
    "index": "Index {index} counts from 0: it is number {ordinal} of the tensors in that call.",
    "counts": "Expected {expected}, got {count}."
  },
  "tensorTypes": {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16", "LongTensor": "int64", "IntTensor": "int32",
    "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8", "BoolTensor": "bool",
    "ComplexFloatTensor": "complex64", "ComplexDoubleTensor": "complex128"
  },
  "why": {
    "intro": "your text says ",
    "hole": "{name} {value}",
    "noHole": "no {name}",
    "frame": "“{value}”",
    "only": "the message has this one cause",
    "unsure": "the text alone cannot tell"
  }
};

const HOLE = /<([a-z][a-z0-9_]*)>/;
const DROPPED = /[ \t\n'"`*\\_-]+/g;
const ANSI =
  /(?:\x1b|\u241b|\\x1[bB]|\\u001[bB]|\\033|\\e|\^\[)(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|[@-Z^_])/g;
const BARE_COLOR = /\[[0-9]{1,2}(?:;[0-9]{1,3}){0,5}m/g;
const RAISED = /([A-Za-z_][A-Za-z0-9_.]{0,80}(?:Error|Exception|Warning)|Warning)[ \t]*[:(][ \t]*$/;
const ANY_RAISED = /(?:^|[^A-Za-z0-9_.])([A-Za-z_][A-Za-z0-9_.]{0,80}(?:Error|Exception|Warning)|Warning):[ \t]/g;
const compiled = new WeakMap();

/** Return the steps that arrange *catalogue* for looking up: after them no paste has to wait. */
export function preparations(catalogue) {
  return [
    () => indexOf(catalogue),
    () => nearOf(indexOf(catalogue)),
    () => symptomsOf(indexOf(catalogue)),
  ];
}

/** Return at most five pages for *text*, best first, and how sure that is. */
export function lookup(text, catalogue) {
  const index = indexOf(catalogue);
  const paste = readPaste(text);
  const found = findMessages(paste, index);
  const sure = confirmed(found, paste);
  if (sure.length && !otherErrorFollows(sure[0], paste)) {
    return answer("match", matchResults(sure, paste, index), "");
  }
  if (sure.length) {
    return answer("near", nearResults(nearest(sure.map(asNear)), paste, index), noneHint(paste));
  }
  const near = nearest([...found.map(asNear), ...findNear(paste, index)]);
  if (near.length) {
    const hint = near[0].shared ? TABLES.shared : TABLES.notSure;
    return answer("near", nearResults(near, paste, index), hint);
  }
  const symptoms = findSymptoms(paste, index);
  if (symptoms.length) return answer("near", nearResults(symptoms, paste, index), TABLES.bySymptom);
  return answer("none", [], noneHint(paste));
}

function answer(kind, results, hint) {
  return { kind, results: results.slice(0, TABLES.wantedResults), hint };
}

// -- 1. The paste: characters, lines, prefixes ----------------------------------------------------

/** Return the lines of *text* with what terminals, browsers and loggers add taken away. */
export function readPaste(text) {
  const whole = clean(text === null || text === undefined ? "" : String(text));
  const lines = [];
  let number = 0;
  let empty = 0;
  for (const line of whole.split("\n")) {
    number += 1;
    empty = line === "" ? empty + 1 : 0;
    if (empty > 2) continue;
    for (const piece of pieces(line)) {
      lines.push({ raw: piece.text, goesOn: piece.goesOn, number, text: null, squashed: null });
    }
  }
  return { whole, lines: byRank(whole, lines), regions: new Map() };
}

/** Return *text* with one kind of quote, dash, space and line end, and without markup. */
export function clean(text) {
  let result = text;
  if (result.length > TABLES.longestText) {
    const kept = TABLES.longestText - 100000;
    result = result.slice(0, 100000) + "\n" + result.slice(result.length - kept);
  }
  result = result.replace(/\r\n?/g, "\n").replace(ANSI, "");
  if (result.includes("\\")) {
    result = result.split("\n").map((line) => (line.includes("\\") ? unescape(line) : line)).join("\n");
  }
  if (result.includes("m")) result = result.replace(BARE_COLOR, "");
  if (result.includes("<")) {
    result = result.replace(TAG, (tag, name) => (BREAKING.test(name) ? "\n" : ""));
  }
  if (result.includes("&")) result = result.replace(ENTITY, entity).replace(ENTITY, entity);
  return foldAll(result);
}

/** Undo the escapes of a string literal (repr, JSON); leave the paths of Windows alone. */
function unescape(line) {
  let text = line;
  if (!/\\[^nrtux0"'\\`]|[A-Za-z]:\\/.test(text) || /\\["']|(?:^|[^\\])\\n[^a-z0-9_]/.test(text)) {
    text = text
      .replace(/\\u([0-9a-fA-F]{4})/g, (_, code) => character(parseInt(code, 16)))
      .replace(/\\{1,8}n/g, (whole) => (whole.length === 2 ? "\n" : whole));
  }
  return text
    .replace(/(?:\\{1,4}r)?\\{1,4}n(?![a-z0-9_])/g, "\n")
    .replace(/\\{1,4}(["'[\]()*_])/g, "$1");
}

function character(code) {
  return code >= 32 && (code < 0xd800 || code > 0xdfff) ? String.fromCharCode(code) : " ";
}

function foldAll(text) {
  return /[^\n\t -~]/.test(text) ? text.replace(FOLDED, fold) : text;
}

const TAG = new RegExp(`</?(${TABLES.tags})(?:[ \\t\\n][^<>]{0,300})?/?>`, "gi");
const BREAKING = new RegExp(`^(?:${TABLES.breakingTags})$`, "i");
const ENTITY = /&(#[0-9]{1,5}|#[xX][0-9a-fA-F]{1,4}|[a-z]{2,6});/g;
const FOLDS = new Map();
for (const [to, from] of Object.entries(TABLES.fold)) {
  for (const character of from) FOLDS.set(character, to);
}
const FOLDED = new RegExp(
  `[\\x00-\\x08\\x0b-\\x1f\\x7f\uff01-\uff5e${[...FOLDS.keys()].join("")}]`,
  "g",
);

function fold(character) {
  if (FOLDS.has(character)) return FOLDS.get(character);
  const code = character.charCodeAt(0);
  return code >= 0xff01 ? String.fromCharCode(code - 0xfee0) : " ";
}

function entity(whole, name) {
  if (name[0] !== "#") return Object.hasOwn(TABLES.entities, name) ? TABLES.entities[name] : whole;
  const code = /[xX]/.test(name[1]) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
  return character(code & 0xffff);
}

/** Cut a very long line where it has a space, so that no step works on more than a piece. */
function pieces(line) {
  const longest = TABLES.longestLine;
  if (line.length <= longest) return [{ text: line, goesOn: false }];
  const found = [];
  let start = 0;
  while (line.length - start > longest) {
    let end = line.lastIndexOf(" ", start + longest);
    if (end <= start + longest / 2) end = start + longest;
    found.push({ text: line.slice(start, end), goesOn: start > 0 });
    start = end;
  }
  found.push({ text: line.slice(start), goesOn: start > 0 });
  return found;
}

const RANK = /^[ \t]*(?:\[(?:rank|default|gpu|worker|node)?[ ]?([0-9]{1,5})(?:,[0-9]{1,5})?\](?:<std(?:err|out)>)?[ ]?:|\([A-Za-z_][A-Za-z0-9_.-]{0,60} pid=([0-9]{1,9})|([0-9]{1,4}): )/;

/** Put the lines of each rank together when several ranks wrote at the same time. */
function byRank(whole, lines) {
  if (!/(?:^|\n)[ \t]*(?:\[[a-z]{0,7} ?[0-9]{1,5}(?:,[0-9]{1,5})?\]|\([A-Za-z_][^\n)]{0,80} pid=|[0-9]{1,4}: )/.test(whole)) {
    return lines;
  }
  const streams = new Map();
  let current = "";
  for (const line of lines) {
    const rank = RANK.exec(line.raw);
    if (rank && !line.goesOn) current = rank[1] || rank[2] || rank[3];
    if (!streams.has(current)) streams.set(current, []);
    streams.get(current).push(line);
  }
  const ordered = [];
  for (const stream of streams.values()) for (const line of stream) ordered.push(line);
  return ordered;
}

const PREFIXES = new RegExp(`^(?:${TABLES.prefixes.join("|")}){0,24}`);

/** Return a line without quotation marks of mails, time stamps, ranks and the like. */
function stripped(line) {
  if (line.text === null) {
    let text = line.raw.slice(PREFIXES.exec(line.raw)[0].length);
    if (/[│┃║][ \t]*$/.test(text)) text = trimEnd(text, "│┃║ \t");
    line.text = text;
  }
  return line.text;
}

/** Return *text* in lower case, without what a wrapped, retyped or quoted text may lack or add. */
export function squash(text) {
  return lower(text.replace(DROPPED, ""));
}

function trimEnd(text, characters) {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1])) end -= 1;
  return text.slice(0, end);
}

function trimStart(text, characters) {
  let start = 0;
  while (start < text.length && characters.includes(text[start])) start += 1;
  return text.slice(start);
}

function lower(text) {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function squashedLine(line) {
  if (line.squashed === null) line.squashed = squash(stripped(line));
  return line.squashed;
}

// -- 2. The catalogue: templates and their key words ----------------------------------------------

function indexOf(catalogue) {
  const key = catalogue !== null && typeof catalogue === "object" ? catalogue : { pages: [] };
  let index = compiled.get(key);
  if (index === undefined) {
    index = buildIndex(Array.isArray(key.pages) ? key.pages : []);
    compiled.set(key, index);
  }
  return index;
}

function buildIndex(pages) {
  const templates = [];
  pages.forEach((page, number) => {
    for (const error of page.errors || []) {
      addTemplate(templates, number, error, error, null);
      for (const former of error.formerly || []) {
        addTemplate(templates, number, error, former, former.releases || "");
      }
    }
  });
  const index = { pages, templates, keys: new Map(), words: null, near: null, symptoms: null };
  index.mostLines = Math.max(0, ...templates.map((template) => template.lines));
  index.longest = Math.max(0, ...templates.map((template) => template.length));
  const frequency = pageFrequency(templates);
  for (const template of templates) {
    template.keys = rarest(template.words, frequency);
  }
  index.needed = Uint8Array.from(templates, (template) => Math.min(template.keys.length, 2));
  index.words = new Set([...frequency.keys()].filter((word) => !STOP_WORDS.has(word)));
  templates.forEach((template, number) => {
    template.keys.forEach((word, place) => {
      if (!index.keys.has(word)) index.keys.set(word, []);
      index.keys.get(word).push(number * 4 + place);
    });
  });
  return index;
}

/** Return the four words that the fewest pages use, of equal ones the earlier. */
function rarest(words, frequency) {
  const kept = [];
  const counts = [];
  for (const word of words) {
    const count = frequency.get(word);
    if ((kept.length === 4 && count >= counts[3]) || kept.includes(word)) continue;
    let place = kept.length;
    while (place > 0 && counts[place - 1] > count) place -= 1;
    kept.splice(place, 0, word);
    counts.splice(place, 0, count);
    kept.length = counts.length = Math.min(kept.length, 4);
  }
  return kept;
}

function addTemplate(templates, page, error, wording, releases) {
  if (typeof wording.message !== "string" || NEVER.test(wording.message)) return;
  const message = wording.message.trim();
  templates.push(makeTemplate(page, error, message, wording.patterns || [], releases, false));
  const cut = firstStop(message);
  if (cut > 0) templates.push(makeTemplate(page, error, message.slice(0, cut), [], releases, true));
}

/** Return where the first sentence that says enough ends, if more follow: hints change often. */
function firstStop(message) {
  const stop = /[.!?](?=[ \n])/g;
  const size = (text) => squash(foldAll(text.replace(/<[a-z][a-z0-9_]*>/g, ""))).length;
  for (let found = stop.exec(message); found; found = stop.exec(message)) {
    const end = found.index + 1;
    if (size(message.slice(0, end)) >= 40) return size(message.slice(end)) >= 20 ? end : 0;
  }
  return 0;
}

function makeTemplate(page, error, message, patterns, releases, partial) {
  const parts = [];
  const holes = [];
  let rest = message;
  for (let hole = HOLE.exec(rest); hole; hole = HOLE.exec(rest)) {
    parts.push(rest.slice(0, hole.index));
    holes.push(hole[1]);
    rest = rest.slice(hole.index + hole[0].length);
  }
  parts.push(rest);
  const whole = parts.join(" ");
  const literals = parts.map((part) => squash(foldAll(part)));
  const last = literals.length - 1;
  const shortened = literals[last].replace(/[.!?:;,]+$/, "");
  literals[last] = shortened;
  const length = literals.reduce((sum, literal) => sum + literal.length, 0);
  return {
    page,
    raises: String(error.raises || ""),
    message,
    patterns,
    releases,
    partial,
    parts,
    holes,
    literals,
    length,
    lines: whole.split("\n").length - 1,
    many: holes.map((_, i) => /\n\s*$/.test(parts[i]) || /^\s*\n/.test(parts[i + 1])),
    words: wordsOf(foldAll(whole)),
    letters: partial ? "" : letters(whole),
    common: COMMON.test(whole),
  };
}

const OWN = new RegExp(TABLES.own, "i");
const COMMON = new RegExp(TABLES.common);
const NEVER = new RegExp(TABLES.never);

/** Return the words of *text* that can be key words. */
function wordsOf(text) {
  return lower(text).match(/[a-z]{3,}/g) || [];
}

/** Return on how many pages each word stands. */
function pageFrequency(templates) {
  const count = new Map();
  const last = new Map();
  for (const template of templates) {
    if (template.partial) continue; // the whole message has its words
    for (const word of template.words) {
      if (last.get(word) === template.page) continue;
      last.set(word, template.page);
      count.set(word, (count.get(word) || 0) + 1);
    }
  }
  return count;
}

// -- 3. Whole messages ----------------------------------------------------------------------------

/** Return every declared message in the paste, the last raised one first. */
function findMessages(paste, index) {
  let places = [];
  for (const [number, found] of candidates(paste, index)) {
    for (const place of found) places.push({ number, place, order: places.length });
  }
  if (places.length > TABLES.mostPlaces) {
    places.sort((a, b) => b.place.to - a.place.to || a.order - b.order);
    places = places.slice(0, TABLES.mostPlaces).sort((a, b) => a.order - b.order);
  }
  let matches = [];
  for (const { number, place } of places) {
    for (const match of fit(index.templates[number], place, paste, index)) matches.push(match);
  }
  matches = withoutParts(matches);
  for (const match of matches) match.behind = match.rival === true && !pointsAt(match, paste);
  matches.sort(laterFirst);
  return matches;
}

/** Return as many of the matches as an answer can show whose declared pattern fits. */
function confirmed(matches, paste) {
  const pages = new Set();
  const sure = [];
  for (const match of matches) {
    if (pages.size === TABLES.wantedResults) break;
    if (!match.sure || !fitsPattern(match) || isCommon(match, paste)) continue;
    pages.add(match.page.id);
    sure.push(match);
  }
  return sure;
}

/** Return whether *match* is a warning behind which an error came that is not one of ours. */
function otherErrorFollows(match, paste) {
  if (!isWarning(match.template)) return false;
  for (let i = match.end.line + 1; i < paste.lines.length; i += 1) {
    if (ERROR_TAIL.test(paste.lines[i].raw) && ERROR_LINE.test(stripped(paste.lines[i]))) return true;
  }
  return false;
}

const ERROR_TAIL = /(?:Error|Exception)(?::|[ \t]*$)/;
const ERROR_LINE = /^[A-Za-z_][A-Za-z0-9_.]{0,80}(?:Error|Exception)(?::|[ \t]*$)/;

/** Return, by template, the few stretches of lines that hold its rarest words. */
function candidates(paste, index) {
  const reach = TABLES.reach;
  const last = new Int32Array(index.templates.length * 4).fill(-1000000); // a missing key stays far
  const found = new Map();
  const { lines } = paste;
  for (let i = 0; i < lines.length; i += 1) {
    if (lines[i].raw.length < 3) continue;
    for (const word of wordsOf(lines[i].raw)) {
      const slots = index.keys.get(word);
      if (slots === undefined || last[slots[0]] === i) continue; // this line has had the word
      for (const slot of slots) {
        last[slot] = i;
        const number = slot >> 2;
        let from = i;
        let hits = 0;
        for (let key = number * 4; key < number * 4 + 4; key += 1) {
          if (i - last[key] > reach) continue;
          hits += 1;
          if (last[key] < from) from = last[key];
        }
        if (hits >= index.needed[number]) note(found, number, from, i, hits);
      }
    }
  }
  return found;
}

/** Keep a template's three places with most of its words, of equal ones the later. */
function note(found, number, from, to, hits) {
  const places = found.get(number);
  if (places === undefined) {
    found.set(number, [{ from, to, hits }]);
    return;
  }
  const latest = places[places.length - 1];
  if (from <= latest.to) {
    latest.to = to;
    latest.hits = Math.max(latest.hits, hits);
    if (latest.to - latest.from > 40) latest.from = from;
    return;
  }
  places.push({ from, to, hits });
  if (places.length > 3) {
    const fewest = Math.min(...places.map((one) => one.hits));
    places.splice(places.findIndex((one) => one.hits === fewest), 1);
  }
}

/** Return the matches of one template around one place. */
function fit(template, place, paste, index) {
  if (template.length < 8) return [];
  const region = regionOf(template, place, paste, index);
  const { text } = region;
  const first = template.literals.findIndex((literal) => literal !== "");
  const found = [];
  let from = 0;
  for (let attempt = 0; attempt < 40; attempt += 1) {
    const at = text.indexOf(template.literals[first], from);
    if (at < 0) break;
    from = at + 1;
    const spans = followHoles(template, text, at, first);
    if (spans === null) continue;
    const match = bestEnd(template, region, spans, first, paste, index);
    if (match !== null) {
      found.push(match);
      from = spans[spans.length - 1][1];
    }
  }
  return found.slice(-2);
}

/** Return the match that *spans* make; let the last words come later if the message ends there. */
function bestEnd(template, region, spans, first, paste, index) {
  const match = messageAt(template, region, spans, first, paste, index);
  const last = template.literals.length - 1;
  if (match === null || match.sure || last === first) return match;
  const literal = template.literals[last];
  let at = spans[spans.length - 1][0];
  for (let attempt = 0; literal !== "" && attempt < 3; attempt += 1) {
    const room = region.text.slice(at + 1, at + 1 + TABLES.longestHole);
    const next = room.indexOf(literal);
    if (next < 0) break;
    at += 1 + next;
    const later = [...spans.slice(0, -1), [at, at + literal.length]];
    const other = messageAt(template, region, later, first, paste, index);
    if (other !== null && other.sure) return other;
  }
  return match;
}

/** Return the squashed text of the lines around a place, and where each line begins in it. */
function regionOf(template, place, paste, index) {
  const many = template.many.some(Boolean);
  const key = `${place.from} ${place.to} ${many}`;
  if (!paste.regions.has(key)) paste.regions.set(key, makeRegion(place, many, paste, index));
  return paste.regions.get(key);
}

function makeRegion(place, many, paste, index) {
  const { lines } = paste;
  const reach = TABLES.reach + index.mostLines;
  const limit = (many ? TABLES.afterMany : TABLES.after) + index.longest;
  let start = place.from;
  for (let size = 0; start > 0 && place.from - start < reach; start -= 1) {
    size += lines[start - 1].raw.length;
    if (size > TABLES.before) break;
  }
  const offsets = [];
  const parts = [];
  let size = 0;
  for (let i = start; i < lines.length; i += 1) {
    if (i > place.to && (size > limit || (!many && i - place.to > reach))) break;
    if (size > TABLES.before + TABLES.after + limit) break;
    const squashed = squashedLine(lines[i]);
    offsets.push(size);
    parts.push(squashed);
    size += squashed.length;
  }
  return { text: parts.join(""), start, offsets };
}

/** Return where each literal lies, each as soon as possible after the one before it, or null. */
function followHoles(template, text, at, first) {
  const { literals } = template;
  const spans = [[at, at + literals[first].length]];
  for (let i = first + 1; i < literals.length; i += 1) {
    const end = spans[spans.length - 1][1];
    if (literals[i] === "") {
      spans.push([end, end]);
      continue;
    }
    const room = template.many[i - 1] ? TABLES.afterMany : TABLES.longestHole;
    const next = end + text.slice(end, end + room + literals[i].length).indexOf(literals[i]);
    if (next < end) return null;
    spans.push([next, next + literals[i].length]);
  }
  return spans;
}

/** What no value of a hole holds: the hole ran into another line of the paste. */
const STRAY = /\n[^\n]*\n[^\n]*\n|(?:Error|Exception|Warning): |File "/;

/** Return the match that *spans* make, if a message begins and ends there. */
function messageAt(template, region, spans, first, paste, index) {
  const { lines } = paste;
  const last = template.literals.length - 1;
  let begin = pointOf(region, spans[0][0], paste, false);
  const line = lines[begin.line];
  const values = [];
  if (first > 0) {
    const lead = leadingHole(stripped(line).slice(0, begin.column));
    if (lead === null) return null;
    values.push(lead);
    begin = { line: begin.line, column: begin.column - lead.length };
    while (values.length < first) values.push("");
  }
  const before = stripped(line).slice(0, begin.column);
  const raised = RAISED.exec(trimEnd(before, `${SPACE}"'\``));
  let sure = !template.partial && beginsMessage(before, line.goesOn);
  for (let i = first; i < last; i += 1) {
    const k = i - first;
    const from = pointOf(region, spans[k][1], paste, true);
    const to = pointOf(region, spans[k + 1][0], paste, false);
    if (template.literals[i + 1] === "") {
      values.push(i + 1 === last ? tailOf(template, i, from, paste) : "");
    } else {
      const value = textBetween(from, to, paste);
      if (!template.many[i] && STRAY.test(value)) return null;
      values.push(value);
    }
  }
  const end = pointOf(region, spans[spans.length - 1][1], paste, true);
  if (template.literals[last] !== "" && !endsMessage(template, end, paste)) sure = false;
  if (!sure && template.length < TABLES.shortest) return null;
  const fields = {};
  template.holes.forEach((name, i) => {
    fields[name] = tidy(values[i] === undefined ? "" : values[i]);
  });
  splitNeighbors(template, fields);
  const text = filled(template, fields);
  const match = {
    template,
    page: index.pages[template.page],
    text,
    fields,
    raised: raised ? raised[1] : null,
    begin,
    end,
    lineNumber: lines[begin.line].number,
    endNumber: lines[end.line].number,
    sure: true,
    otherType: false,
  };
  if (raised && template.raises && !sameType(raised[1], template.raises)) {
    if (template.length < 40) return null;
    match.otherType = true;
  }
  match.sure = sure;
  return match;
}

function sameType(seen, declared) {
  return seen.split(".").pop() === declared.split(".").pop();
}

/** Return the line and column of a squashed position; *after* a character, or before it. */
function pointOf(region, position, paste, after) {
  const { offsets, start } = region;
  const target = after ? position - 1 : position;
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle] <= target) low = middle;
    else high = middle - 1;
  }
  const text = stripped(paste.lines[start + low]);
  let left = target - offsets[low];
  let column = 0;
  for (; column < text.length; column += 1) {
    if (DROPS.has(text[column])) continue;
    if (left === 0) break;
    left -= 1;
  }
  return { line: start + low, column: after ? column + 1 : column };
}

const SPACE = " \t\n";
const MARKS = `'"\`*_-`;
const DROPS = new Set(`${SPACE}${MARKS}\\`);

/** Return what stands before the first literal of a message that begins with a hole, or null. */
function leadingHole(before) {
  const message = before.replace(/^.*(?:Error|Exception|Warning)[ \t]*[:(][ \t]*["']?/, "");
  const text = message.trimStart();
  if (text.trim() === "" || text.length > 120) return null;
  if (message !== before || /^[^ \t]+[ \t]*$/.test(text)) return text;
  const word = /[^ \t:;,]+[ \t]*$/.exec(text);
  return word === null ? null : word[0];
}

/** Return whether a message can begin after *before* on its line. */
function beginsMessage(before, goesOn) {
  const text = trimEnd(before, SPACE + MARKS);
  if (text === "") return !goesOn || before !== "";
  if (/^[ \t]+["'`]+$/.test(before.slice(text.length))) return true;
  const last = text[text.length - 1];
  if (!/[A-Za-z0-9.]/.test(last)) return true;
  if (text.length === before.length) return false;
  if (last === ".") return true;
  return /(?:Error|Exception|Warning)$/.test(text) || LEAD_IN.test(lower(text));
}

const LEAD_IN = new RegExp(`(?:^|[^a-z])${TABLES.leadIn}`);
const GOES_ON = new RegExp(TABLES.goesOn);

/** Return whether a message can end at *end*: what follows is not the rest of its sentence. */
function endsMessage(template, end, paste) {
  const text = stripped(paste.lines[end.line]);
  const rest = text.slice(end.column);
  const next = trimStart(rest, `${SPACE}"'\`*_`);
  if (next === "") return true;
  if (!/^[A-Za-z0-9(]/.test(next)) return !/^[-=/\\+[{<@#$%^&]/.test(next) || rest !== next;
  if (/^[A-Za-z0-9_]/.test(rest)) return false;
  return GOES_ON.test(next);
}

/** Return the text of a hole that ends its message: the rest of the line, or several lines. */
function tailOf(template, hole, from, paste) {
  return withoutStop(template, linesFrom(template, hole, from, paste));
}

/** Cut *text*, the last hole, where the message has its punctuation mark: `<device>!`. */
function withoutStop(template, text) {
  const mark = template.parts[template.parts.length - 1].trim();
  for (let at = mark === "" ? -1 : text.indexOf(mark); at > 0; at = text.indexOf(mark, at + 1)) {
    if (/^["'`*]{0,8}(?:[ \t\n]|$)/.test(text.slice(at + mark.length))) return text.slice(0, at);
  }
  return text;
}

function linesFrom(template, hole, from, paste) {
  const { lines } = paste;
  let text = stripped(lines[from.line]).slice(from.column);
  if (template.many[hole]) {
    for (let i = from.line + 1; i < lines.length && text.length < TABLES.longestTail; i += 1) {
      const next = stripped(lines[i]);
      if (next.trim() === "" && text.trim() !== "") break;
      text += `\n${next}`;
    }
  }
  return text.slice(0, TABLES.longestTail);
}

function textBetween(from, to, paste) {
  const { lines } = paste;
  if (from.line === to.line) return stripped(lines[from.line]).slice(from.column, to.column);
  const parts = [stripped(lines[from.line]).slice(from.column)];
  for (let i = from.line + 1; i < to.line; i += 1) parts.push(stripped(lines[i]));
  parts.push(stripped(lines[to.line]).slice(0, to.column));
  return parts.join("\n");
}

function tidy(value) {
  return trimEnd(trimStart(value.replace(/[ \t\n]+/g, " "), " `'\""), " `'\"");
}

/** Give each of two holes with nothing but a space or a quote between them its part. */
function splitNeighbors(template, fields) {
  for (let i = 0; i + 1 < template.holes.length; i += 1) {
    if (template.literals[i + 1] !== "" || i + 1 === template.literals.length - 1) continue;
    const [one, two] = [template.holes[i], template.holes[i + 1]];
    const whole = fields[one] === "" ? fields[two] : fields[one];
    const cut = whole.search(/[ '"`_-]/);
    if (cut < 0) continue;
    fields[one] = tidy(whole.slice(0, cut));
    fields[two] = tidy(whole.slice(cut + 1));
  }
}

/** Return the message as PyTorch wrote it: literals of the template, holes of the paste. */
function filled(template, fields) {
  return template.parts
    .map((part, i) => part + (i < template.holes.length ? fields[template.holes[i]] : ""))
    .join("")
    .trim();
}

/** Let the declared patterns have the last word. An empty hole (shape `[]`) fits by itself. */
function fitsPattern(match) {
  const { template } = match;
  if (template.holes.some((name) => match.fields[name] === "")) return true;
  if (match.text.length > 4000 || template.patterns.length === 0) return true;
  return template.patterns.some((pattern) => {
    const regex = safeRegex(pattern);
    return regex === null || regex.test(match.text);
  });
}

const regexes = new Map();

function safeRegex(pattern) {
  if (!regexes.has(pattern)) {
    if (regexes.size > 5000) regexes.clear();
    let regex = null;
    try {
      regex = pattern.startsWith("(?i)") ? new RegExp(pattern.slice(4), "i") : new RegExp(pattern);
    } catch {
      regex = null;
    }
    regexes.set(pattern, regex);
  }
  return regexes.get(pattern);
}

const OWN_FRAMES = new RegExp(TABLES.ownFrames);

/**
 * Return whether other code prints this message too (Python's own "missing 1 required positional
 * argument") and nothing else in the paste speaks of autograd.
 */
function isCommon(match, paste) {
  if (!match.template.common || OWN.test(match.text)) return false;
  return !OWN_FRAMES.test(contextOf(match.begin.line, match.end.line, paste));
}

/** Keep, of matches that share words, the one that describes them best: the longest template. */
function withoutParts(matches) {
  matches.forEach((match, order) => {
    match.order = order;
    match.from = match.begin.line * 10000 + match.begin.column;
    match.to = match.end.line * 10000 + match.end.column;
  });
  const kept = [];
  const byLine = new Map();
  for (const match of matches.slice().sort(betterFirst)) {
    let free = true;
    for (let i = match.begin.line; free && i <= match.end.line; i += 1) {
      const others = byLine.get(i) || [];
      free = others.every(
        (other) => match.to <= other.from || other.to <= match.from || rivals(match, other),
      );
    }
    if (!free) continue;
    kept.push(match);
    for (let i = match.begin.line; i <= match.end.line; i += 1) {
      if (!byLine.has(i)) byLine.set(i, []);
      byLine.get(i).push(match);
    }
  }
  return kept;
}

/** Return whether two pages have the very same words, one of them perhaps in another release. */
function rivals(one, other) {
  const same =
    one.page !== other.page &&
    one.from === other.from &&
    one.to === other.to &&
    !one.template.partial &&
    one.template.literals.join("\n") === other.template.literals.join("\n");
  if (same) one.rival = other.rival = true;
  return same;
}

/** Return whether *match* is of an owner's page, or of a cause that the frames point at. */
function pointsAt(match, paste) {
  if (!match.page.cause_of) return true;
  const context = contextOf(match.begin.line, match.end.line, paste);
  return evidence(match.page, {}, context, false).tier === POINTED_AT;
}

function betterFirst(one, two) {
  return (
    two.template.length - one.template.length ||
    Number(one.template.partial) - Number(two.template.partial) ||
    Number(one.otherType) - Number(two.otherType) ||
    Number(one.template.releases !== null) - Number(two.template.releases !== null) ||
    one.order - two.order
  );
}

function isWarning(template) {
  return /Warning$/.test(template.raises);
}

/** Errors before warnings, then what was raised last. */
function laterFirst(a, b) {
  return (
    Number(b.sure) - Number(a.sure) ||
    Number(isWarning(a.template)) - Number(isWarning(b.template)) ||
    b.endNumber - a.endNumber ||
    b.end.line - a.end.line ||
    b.end.column - a.end.column ||
    b.template.length - a.template.length ||
    Number(a.behind) - Number(b.behind) ||
    Number(!a.page.cause_of) - Number(!b.page.cause_of)
  );
}

// -- 4. Nearly a message --------------------------------------------------------------------------

/** Return the best entry of every page, best first. */
function nearest(entries) {
  const best = new Map();
  for (const entry of entries) {
    const known = best.get(entry.page.id);
    if (known === undefined) best.set(entry.page.id, entry);
    else known.score = Math.max(known.score, entry.score);
  }
  return [...best.values()].sort((a, b) => b.score - a.score);
}

function asNear(match) {
  return {
    page: match.page,
    template: match.template,
    text: match.text,
    fields: match.fields,
    lineNumber: match.lineNumber,
    at: match.begin.line,
    holes: true,
    shared: match.sure && match.template.common,
    score: match.template.common ? 0.6 : match.template.partial ? 0.7 : 0.79,
  };
}

/** Return pages whose wording is close to a line of the paste, closest first. */
function findNear(paste, index) {
  const windows = nearWindows(paste, index);
  if (windows.length === 0) return [];
  const near = nearOf(index);
  const best = new Map();
  for (const stretch of windows) {
    const plain = letters(stretch.text);
    const own = OWN.test(stretch.text);
    for (const entry of similar(stretch.text, near)) {
      const template = index.templates[entry.template];
      if (!own && (template.common || !template.letters.startsWith(plain))) entry.score *= 0.7;
      if (template.common) entry.score *= 0.85;
      const known = best.get(template.page);
      if (known !== undefined && known.score >= entry.score) continue;
      best.set(template.page, {
        page: index.pages[template.page],
        template,
        text: stretch.text.trim(),
        lineNumber: paste.lines[stretch.line].number,
        at: stretch.line,
        score: entry.score,
      });
    }
  }
  const found = [...best.values()].sort((a, b) => b.score - a.score);
  if (found.length === 0 || found[0].score < TABLES.nearScore) return [];
  const enough = Math.max(found[0].score * 0.75, TABLES.nearScore * 0.9);
  const kept = found.filter((entry) => entry.score >= enough);
  for (const entry of kept) entry.fields = partialFields(entry, paste);
  return kept;
}

function letters(text) {
  return lower(text).replace(/[^a-z]+/g, "");
}

/** A group of three letters is a number below this, which keeps tables of them small and fast. */
const TRIGRAMS = 26 * 26 * 26;
const trigramSeen = new Int32Array(TRIGRAMS);
let trigramPass = 0;

/**
 * Write the groups of three letters in *text*, which is all letters, to *numbers* from *start* on,
 * each once and in order; return where they end.
 */
function trigrams(text, numbers, start) {
  trigramPass += 1;
  let end = start;
  let one = 0;
  let two = 0;
  for (let i = 0; i < text.length; i += 1) {
    const three = text.charCodeAt(i) - 97;
    const number = (one * 26 + two) * 26 + three;
    if (i >= 2 && trigramSeen[number] !== trigramPass) {
      trigramSeen[number] = trigramPass;
      numbers[end] = number;
      end += 1;
    }
    one = two;
    two = three;
  }
  return end;
}

function weigh(total, frequency) {
  return Math.floor(100 * Math.log(1 + total / frequency) + 0.5);
}

function nearOf(index) {
  if (index.near === null) index.near = buildNear(index);
  return index.near;
}

/** Return the trigrams of every message and of each of its sentences, weighed by rarity. */
function buildNear(index) {
  const units = [];
  const frequency = new Int32Array(TRIGRAMS);
  const last = new Int32Array(TRIGRAMS).fill(-1);
  const size = index.templates.reduce((sum, template) => sum + template.letters.length, 0);
  const numbers = new Uint16Array(2 * size); // each is below TRIGRAMS
  let used = 0;
  const addUnit = (template, number, plain, to) => {
    const start = template.letters.slice(0, 12);
    const whole = plain === template.letters;
    units.push({ template: number, from: used, to, size: plain.length, start, whole, weight: 0 });
    used = to;
  };
  index.templates.forEach((template, number) => {
    if (template.partial) return; // the whole message has all of it
    const end = trigrams(template.letters, numbers, used);
    for (let i = used; i < end; i += 1) {
      if (last[numbers[i]] !== template.page) frequency[numbers[i]] += 1;
      last[numbers[i]] = template.page;
    }
    if (template.letters.length >= 12) addUnit(template, number, template.letters, end);
    const sentences = template.parts.join(" ").split(/[.!?:][ \n]+/);
    if (sentences.length === 1) return;
    for (const sentence of sentences) {
      const plain = letters(sentence);
      if (plain.length >= 24) addUnit(template, number, plain, trigrams(plain, numbers, used));
    }
  });
  const total = Math.max(1, index.pages.length);
  const weights = new Int32Array(TRIGRAMS);
  frequency.forEach((pages, trigram) => {
    if (pages > 0) weights[trigram] = weigh(total, pages);
  });
  const starts = new Int32Array(TRIGRAMS + 1);
  for (let i = 0; i < used; i += 1) starts[numbers[i] + 1] += 1;
  for (let i = 0; i < TRIGRAMS; i += 1) starts[i + 1] += starts[i];
  const postings = new Int32Array(used);
  const next = starts.slice();
  units.forEach((unit, number) => {
    for (let i = unit.from; i < unit.to; i += 1) {
      unit.weight += weights[numbers[i]];
      postings[next[numbers[i]]] = number;
      next[numbers[i]] += 1;
    }
  });
  const wholes = new Map();
  units.forEach((unit, number) => {
    if (unit.whole) wholes.set(unit.template, number);
  });
  return {
    units,
    weights,
    starts,
    postings,
    wholes,
    unitWeights: Float64Array.from(units, (unit) => unit.weight),
    unitSizes: Int32Array.from(units, (unit) => unit.size),
    unknown: weigh(total, 2),
    shared: new Int32Array(units.length),
  };
}

const FAR = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;

/** Return the best score of every template that shares enough with *text*. */
function similar(text, near) {
  const plain = letters(text).slice(0, 900);
  const { shared, starts, postings } = near;
  const touched = [];
  let own = 0;
  const asked = new Int32Array(plain.length);
  const end = trigrams(plain, asked, 0);
  for (let k = 0; k < end; k += 1) {
    const trigram = asked[k];
    const weight = near.weights[trigram];
    if (weight === 0) {
      own += near.unknown;
      continue;
    }
    own += weight;
    for (let i = starts[trigram]; i < starts[trigram + 1]; i += 1) {
      if (shared[postings[i]] === 0) touched.push(postings[i]);
      shared[postings[i]] += weight;
    }
  }
  own += near.unknown * Math.floor((text.match(FAR) || []).length / 2);
  const found = new Map();
  const isLong = plain.length >= 12;
  for (const number of touched) {
    const weight = shared[number];
    const all = near.unitWeights[number];
    if (weight < 0.13 * (all + own) && weight < 0.5 * Math.min(all, own)) continue; // below 0.27
    const recall = weight / all;
    const precision = weight / own;
    let score = (2 * recall * precision) / (recall + precision);
    if (near.unitSizes[number] >= 30) score = Math.max(score, recall * recall * 0.95);
    if (isLong) {
      const enough = Math.min(1, weight / 6000);
      score = Math.max(score, precision * precision * (0.6 + 0.35 * enough));
    }
    if (score < 0.27) continue;
    const unit = near.units[number];
    if (plain.startsWith(unit.start)) score += 0.03;
    if (score < 0.3) continue;
    const known = found.get(unit.template);
    if (known === undefined || known < score) found.set(unit.template, score);
  }
  const scores = [];
  for (const [template, score] of found) {
    const whole = near.wholes.get(template);
    const weight = whole === undefined ? 0 : shared[whole];
    const recall = weight / near.unitWeights[whole];
    const precision = weight / own;
    const all = weight === 0 ? 0 : (2 * recall * precision) / (recall + precision);
    scores.push({ template, score: Math.min(score, 1) * 0.77 + all * 0.02 });
  }
  for (const number of touched) shared[number] = 0;
  return scores;
}

const CODE = /^(?:-+> ?[0-9]+|[0-9]+ {2,})/;
const FRAME = new RegExp(TABLES.frameLine);

/** Return the lines that most resemble messages, each alone and with the lines it may go on in. */
function nearWindows(paste, index) {
  const { lines } = paste;
  const ranked = [];
  const seen = new Set();
  for (let i = lines.length - 1; i >= 0; i -= 1) {
    const { raw } = lines[i];
    if (raw.length < 12) continue;
    const words = wordsOf(raw);
    let weight = 0;
    for (const word of words) if (index.words.has(word)) weight += 1;
    const raised = /(?:Error|Exception|Warning)["'`]?[ \t]*[:(]|what\(\):/.test(raw);
    const score = (raised ? 3 : 0) + weight / Math.sqrt(words.length + 4);
    if (score < 0.35) continue;
    if (seen.size < 20000) {
      const key = raw.replace(/[0-9]+/g, "0").slice(0, 200);
      if (seen.has(key)) continue;
      seen.add(key);
    }
    ranked.push([score, i]);
  }
  ranked.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
  const windows = [];
  let read = 0;
  for (const [, i] of ranked.slice(0, TABLES.nearWindows)) {
    if (windows.length >= TABLES.nearTexts || read >= TABLES.nearLetters) break;
    let text = messagePart(stripped(lines[i]));
    if (FRAME.test(text) || CODE.test(text)) continue;
    if (i > 0 && /^File ["']/.test(stripped(lines[i - 1])) && !/Error|Exception|Warning/.test(text)) continue;
    windows.push({ line: i, text });
    const plain = text.replace(VALUES, " ");
    if (plain !== text) windows.push({ line: i, text: plain });
    for (let k = i + 1; k < lines.length && k <= i + 4 && text.length < 600; k += 1) {
      const next = stripped(lines[k]);
      if (next.trim() === "" || FRAME.test(next)) break;
      text += ` ${next}`;
      windows.push({ line: i, text });
    }
    read += text.length;
    const sentences = messagePart(stripped(lines[i])).split(/[.!?:;,][ \t]+/);
    if (sentences.length > 1) {
      for (const sentence of sentences.slice(0, 12)) {
        if (sentence.length > 24) windows.push({ line: i, text: sentence });
      }
    }
  }
  return windows;
}

/** What stands in holes: quoted and bracketed values, names with digits, dots or capitals inside. */
const VALUES =
  /'[^']{0,60}'|"[^"]{0,60}"|<[^<>]{0,60}>|\[[^[\]]{0,80}\]|[A-Za-z_]{0,40}[0-9_.:](?=[A-Za-z0-9_])[A-Za-z0-9_.:]{0,80}|[A-Za-z]{1,40}[0-9]{1,9}|[A-Za-z_]{0,40}Backward|[A-Z][a-z]{1,30}[A-Z][A-Za-z0-9]{1,60}/g;

function messagePart(text) {
  ANY_RAISED.lastIndex = 0;
  let cut = 0;
  for (let found = ANY_RAISED.exec(text); found; found = ANY_RAISED.exec(text)) {
    cut = ANY_RAISED.lastIndex;
  }
  return text.slice(cut);
}

/** Return the holes that can still be read where a message is cut off or garbled. */
function partialFields(entry, paste) {
  const { template, at } = entry;
  const fields = {};
  const parts = [];
  for (let i = at; i < paste.lines.length && i < at + 6; i += 1) parts.push(stripped(paste.lines[i]));
  const text = parts.join(" ").slice(0, 2000);
  template.holes.forEach((name, i) => {
    const before = template.parts[i].slice(-10);
    const after = template.parts[i + 1].slice(0, 4);
    if (before.trim().length < 3 || after === "") return;
    const start = text.indexOf(before);
    if (start < 0) return;
    const end = text.indexOf(after, start + before.length);
    if (end < 0 || end - start > 120) return;
    fields[name] = tidy(text.slice(start + before.length, end));
  });
  return fields;
}

// -- 5. What the reader sees, without a message ---------------------------------------------------

const CONCEPTS = Object.entries(TABLES.concepts).map(([name, pattern]) => [name, new RegExp(pattern)]);
const STOP_WORDS = new Set(TABLES.stopWords.split(" "));

/** Return the words, pairs of Chinese characters and concepts of *text*. */
function features(text) {
  const plain = lower(text);
  const found = new Set();
  for (const [name, pattern] of CONCEPTS) if (pattern.test(plain)) found.add(`:${name}`);
  for (const word of plain.match(/[a-z_][a-z0-9_]+/g) || []) {
    if (!STOP_WORDS.has(word)) found.add(stem(word));
  }
  for (const run of plain.match(/[\u3400-\u9fff]+/g) || []) {
    for (let i = 0; i + 2 <= run.length; i += 1) found.add(run.slice(i, i + 2));
  }
  return found;
}

function stem(word) {
  return word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, "") : word;
}

function symptomsOf(index) {
  if (index.symptoms === null) index.symptoms = buildSymptoms(index);
  return index.symptoms;
}

function buildSymptoms(index) {
  const entries = [];
  const frequency = new Map();
  index.pages.forEach((page, number) => {
    const texts = [[page.symptom, 3], [page.symptom_zh, 3], [page.title, 3], [page.summary, 1]];
    const weights = new Map();
    for (const [text, weight] of texts) {
      if (!text) continue;
      for (const feature of features(String(text))) {
        weights.set(feature, Math.max(weights.get(feature) || 0, weight));
      }
    }
    for (const feature of weights.keys()) frequency.set(feature, (frequency.get(feature) || 0) + 1);
    const reports = Math.min(page.reports || 0, 20) + (page.family === "silent" ? 20 : 0);
    entries.push({ number, weights, silent: Boolean(page.symptom), first: reports * 0.001 });
  });
  return { entries, frequency, total: Math.max(1, index.pages.length) };
}

/** Return the pages whose symptom is what *paste* describes in words, closest first. */
function findSymptoms(paste, index) {
  const text = paste.whole.trim();
  if (text === "" || text.length > 1500 || looksRaised(text)) return [];
  const { entries, frequency, total } = symptomsOf(index);
  const asked = features(text);
  let own = 0;
  const weight = (feature) =>
    weigh(total, frequency.get(feature) || 1) * (feature[0] === ":" ? 3 : 1);
  for (const feature of asked) {
    if (frequency.has(feature)) own += weight(feature);
    else own += feature[0] === ":" ? 0 : weigh(total, 2) * 0.25;
  }
  const found = [];
  for (const entry of entries) {
    let shared = 0;
    let concepts = 0;
    for (const feature of asked) {
      const place = entry.weights.get(feature);
      if (place === undefined) continue;
      if (feature[0] === ":") concepts += 1;
      shared += (weight(feature) * (place + 1)) / 4;
    }
    if (concepts === 0 && shared < 300) continue;
    let score = own === 0 ? 0 : shared / own;
    if (!entry.silent) score *= 0.9;
    if (paste.lines.length > 3) score *= 0.6;
    if (score >= TABLES.symptomScore) {
      found.push({
        page: index.pages[entry.number],
        template: null,
        text: text.slice(0, 200),
        fields: {},
        lineNumber: 1,
        at: 0,
        score: score * 0.7 + entry.first,
      });
    }
  }
  found.sort((a, b) => b.score - a.score);
  return found.slice(0, TABLES.wantedResults);
}

/** A traceback, an exception by its usual ending or in a module, or a log's own word. */
const RAISED_SOMEHOW =
  /Traceback \(most recent|(?:^|[^A-Za-z])[A-Za-z_.]{0,80}(?:Error|Exception|Warning)\b[ \t]*[:(]|(?:^|\n)[ \t]{0,8}(?:[a-z_][A-Za-z0-9_]{0,40}\.){1,6}[A-Z][A-Za-z0-9]{1,60}:[ \t]|\bERROR: /;

function looksRaised(text) {
  return RAISED_SOMEHOW.test(text);
}

// -- 6. Not ours ----------------------------------------------------------------------------------

const ELSEWHERE = TABLES.elsewhere.map(([pattern, text]) => [new RegExp(pattern), text]);

function noneHint(paste) {
  const text = paste.whole.trim();
  if (text === "") return "";
  const end = text.slice(-20000);
  const raised = end.split("\n").filter((line) => looksRaised(line) && !/^ *Traceback/.test(line));
  if (raised.length) {
    const last = raised.slice(-3).join("\n");
    for (const part of [last, end]) {
      for (const [pattern, say] of ELSEWHERE) if (pattern.test(part)) return say;
    }
    return TABLES.notOurs;
  }
  for (const [pattern, say] of ELSEWHERE) if (pattern.test(end)) return say;
  return TABLES.noError;
}

// -- 7. Results, causes and the reader's own numbers ----------------------------------------------

function matchResults(matches, paste, index) {
  const results = [];
  const seen = new Set();
  for (const match of matches) {
    if (results.length === TABLES.wantedResults) break;
    if (seen.has(match.page.id)) continue;
    seen.add(match.page.id);
    const context = contextOf(match.begin.line, match.end.line, paste);
    results.push(result(match, true, rounded(1 - 0.02 * results.length), context, index));
  }
  for (const first of results.slice()) {
    for (const cause of first.causes) {
      if (results.length === TABLES.wantedResults) break;
      if (!cause.likely || seen.has(cause.id)) continue;
      seen.add(cause.id);
      const page = index.pages.find((other) => other.id === cause.id);
      const match = { page, template: null, text: first.line, fields: first.fields };
      match.lineNumber = first.lineNumber;
      const score = rounded(0.85 - 0.01 * results.length);
      results.push({ ...result(match, false, score, "", index), why: cause.why });
    }
  }
  return results;
}

function nearResults(found, paste, index) {
  const results = [];
  const seen = new Set();
  for (const entry of found) {
    if (results.length === TABLES.wantedResults) break;
    if (seen.has(entry.page.id)) continue;
    seen.add(entry.page.id);
    const context = contextOf(entry.at, entry.at, paste);
    results.push(result(entry, false, rounded(entry.score), context, index));
  }
  return results;
}

function rounded(score) {
  return Math.floor(score * 1000 + 0.5) / 1000;
}

function result(match, exact, score, context, index) {
  const { page, template } = match;
  return {
    id: page.id,
    url: page.url,
    title: page.title,
    line: match.text,
    fields: match.fields,
    exact,
    score,
    causes: rankCauses(page, match.fields, context, exact || match.holes === true, index),
    summary: page.summary || "",
    raises: template ? template.raises : null,
    releases: template ? template.releases : null,
    lineNumber: match.lineNumber,
    explanation: explain(match.fields),
    fixes: page.fixes || [],
  };
}

/** Return the lines around a message, as far as they can be frames of its traceback. */
function contextOf(from, to, paste) {
  const { lines } = paste;
  const parts = [];
  let size = 0;
  for (let i = to + 1; i < lines.length && i <= to + 60 && size < 8000; i += 1) {
    if (CALL.test(lines[i].raw)) continue;
    parts.push(lines[i].raw.slice(0, 300));
    size += parts[parts.length - 1].length;
  }
  const earlier = [];
  for (let i = from; i >= 0 && i > from - 400 && size < 40000; i -= 1) {
    if (i !== from && CALL.test(lines[i].raw)) continue;
    const part = i === from ? beforeMessage(lines[i]) : lines[i].raw.slice(0, 300);
    earlier.push(part);
    size += part.length;
  }
  return earlier.reverse().concat(parts).join("\n");
}

/** How PyTorch calls any module: these frames say nothing about the mistake. */
const CALL = new RegExp(TABLES.call);

function beforeMessage(line) {
  const cut = line.raw.search(/[A-Za-z_.]{0,80}(?:Error|Exception|Warning)[ \t]*:/);
  return cut < 0 ? "" : line.raw.slice(0, Math.min(cut, 300));
}

const POINTED_AT = 3;

/**
 * Return the pages about single causes of *page*'s message: first those that the message's holes
 * or the frames point at, then those that nothing speaks for or against, then the contradicted.
 */
function rankCauses(page, fields, context, read, index) {
  const own = index.pages.filter((other) => other.cause_of === page.id && other.id !== page.id);
  const ranked = own.map((other, place) => ({ place, ...evidence(other, fields, context, read) }));
  ranked.sort((a, b) => b.tier - a.tier || b.weight - a.weight || a.place - b.place);
  const causes = ranked.map(({ place, tier, why }) => {
    const cause = own[place];
    return {
      id: cause.id,
      url: cause.url,
      title: cause.title,
      why: why === "" ? cause.summary || TABLES.why.unsure : why,
      likely: tier === POINTED_AT,
      causes: cause.causes || [],
    };
  });
  if (causes.length === 0 && !page.cause_of && (page.errors || []).length) {
    const { id, url, title } = page;
    causes.push({ id, url, title, why: TABLES.why.only, likely: false, causes: page.causes || [] });
  }
  return causes;
}

/** Return how far a page's `when` agrees: 3 wholly, 2 nothing speaks against it, 1 not. */
function evidence(page, fields, context, read) {
  const conditions = Object.entries(page.when || {});
  const reports = Number(page.reports) || 0;
  const holes = read && Object.keys(fields).length > 0;
  let seen = 0;
  let unseen = 0;
  let against = 0;
  const why = [];
  for (const [name, pattern] of conditions) {
    const regex = safeRegex(String(pattern));
    if (regex === null) continue;
    if (name === "frame") {
      const found = regex.exec(context);
      if (found && found[0] !== "") {
        seen += 1;
        why.push(TABLES.why.frame.replace("{value}", () => found[0].slice(0, 60)));
      } else {
        unseen += 1;
      }
      continue;
    }
    const known = Object.hasOwn(fields, name);
    const value = known ? fields[name] : "";
    if (!known && !holes) unseen += 1;
    else if (regex.test(value) || regex.test(value.replace(/ /g, ""))) {
      seen += 1;
      const text = value === "" ? TABLES.why.noHole : TABLES.why.hole;
      why.push(text.replace("{name}", () => name.replace(/_/g, " ")).replace("{value}", () => value));
    } else if (known) {
      against += 1;
    } else {
      unseen += 1;
    }
  }
  let tier = 2;
  if (against > 0) tier = 1;
  else if (seen > 0 && unseen === 0) tier = POINTED_AT;
  return {
    tier,
    weight: seen * 1000000 + reports,
    why: tier === POINTED_AT ? TABLES.why.intro + why.join(", ") : "",
  };
}

/** Return sentences that put the reader's own numbers into words. */
export function explain(fields) {
  const say = TABLES.explain;
  const sentences = [];
  const number = (name) => (/^[0-9]{1,9}$/.test(fields[name] || "") ? Number(fields[name]) : null);
  const [version, expected] = [number("version"), number("expected")];
  if (version !== null && expected !== null && version > expected) {
    const times = version - expected === 1 ? say.once : put(say.many, { n: version - expected });
    sentences.push(put(say.writes, { version, expected, times }));
  }
  const node = fields.node || "";
  const shape = fields.shape === undefined ? null : fields.shape.replace(/^\[|\]$/g, "");
  const sizes = /^([0-9]+), ?([0-9]+)$/.exec(shape || "");
  if (/^(?:T|AsStrided)(?:Backward[0-9]*)?$/.test(node) && sizes) {
    sentences.push(put(say.transposed, { node, rows: sizes[1], columns: sizes[2] }));
  } else if (node !== "") {
    sentences.push(put(/CopySlices/.test(node) ? say.copyslices : say.node, { node }));
  }
  const index = number("output") ?? (node === "" ? null : number("index"));
  if (index !== null) sentences.push(put(say.output, { index, ordinal: index + 1 }));
  const type = /^torch\.(cuda\.|)([A-Za-z0-9]+Tensor)$/.exec(fields.tensor_type || "");
  if (type && Object.hasOwn(TABLES.tensorTypes, type[2])) {
    const values = { tensor_type: type[0], dtype: TABLES.tensorTypes[type[2]] };
    sentences.push(put(type[1] ? say.cuda : say.cpu, values));
  }
  if (shape === "" && type) sentences.push(say.scalar);
  else if (/^[0-9][0-9, ]{0,60}$/.test(shape || "") && !sizes) sentences.push(put(say.shape, { shape }));
  else if (sizes && sentences.length && !/^(?:T|AsStrided)/.test(node)) {
    sentences.push(put(say.shape, { shape: `${sizes[1]}, ${sizes[2]}` }));
  }
  if (index === null && number("index") !== null) {
    sentences.push(put(say.index, { index: number("index"), ordinal: number("index") + 1 }));
  }
  const count = number("count");
  if (count !== null && expected !== null) sentences.push(put(say.counts, { expected, count }));
  return sentences;
}

function put(sentence, values) {
  return sentence.replace(/\{([a-z_]+)\}/g, (_, name) => String(values[name]));
}
