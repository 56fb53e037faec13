(line_comment) @comment
(block_comment) @comment
(text) @string
(number) @number
(boolean) @boolean

[
  "system" "library" "import" "const" "typealias" "enum" "record" "function" "procedure" "thread" "loc"
  "invariant" "reachable" "ltl" "ctl" "mu" "nu" "expect" "refines"
] @keyword

["holds" "violated" "reached" "states" "transitions" "depth"] @keyword.modifier
["active" "fair" "durable" "symmetric" "lossy" "duplicating" "reordering" "wrap"] @keyword.modifier
(mark) @keyword.modifier

[
  "when" "do" "goto" "return" "choose" "assert" "assume" "start" "skip" "await" "if" "else" "while" "for" "either"
  "or" "atomic" "break" "send" "receive" "broadcast" "except" "crashes" "on" "crash" "restart"
] @keyword.control

["boolean" "byte" "int" "set" "of" "channel" "sequence" "map" "to" "nobody"] @type.builtin
(type_base (name) @type)

[
  "forall" "exists" "count" "sum" "let" "in" "always" "eventually" "next" "until" "weakuntil" "release" "X" "G" "F" "U" "W"
  "R" "AX" "AF" "AG" "EX" "EF" "EG"
] @keyword.operator

[
  "<->" ":=" "==" "!=" "<=" ">=" "&&" "||" "=>" "->" "<>" ".." "@" "?" "=" "!" "<" ">" "+" "-" "*" "/" "%"
] @operator

["{" "}" "(" ")" "[" "]"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter

(system name: (name) @module)
(thread name: (name) @type)
(function name: (name) @function)
(procedure name: (name) @function)
(call (name) @function.call)
(call_statement (name) @function.call)
(property name: (name) @property)
(refinement name: (name) @module)
(mapped name: (name) @property)
(location name: (name) @label)
(label name: (name) @label)
(at (name) @label)
(param name: (name) @variable.parameter)
(constants name: (name) @constant)
(constant name: (name) @constant)
((name) @constant.builtin (#eq? @constant.builtin "timeout"))
