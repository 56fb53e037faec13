/**
 * BIR for tree-sitter: what `birk` accepts, a little more freely, so that files being written have a tree too.
 * `crates/cli/tests/cli/editors.rs` holds it against the lexer's tables and the models.
 */

const PREC = {
  conditional: 1,
  iff: 2,
  implies: 3,
  or: 4,
  and: 5,
  temporal: 6,
  equality: 7,
  relation: 8,
  sum: 9,
  product: 10,
  prefix: 11,
  postfix: 12,
};

const list = (rule) => optional(seq(rule, repeat(seq(',', rule))));

module.exports = grammar({
  name: 'bir',

  word: ($) => $.name,

  extras: ($) => [/\s/, $.line_comment, $.block_comment],

  conflicts: ($) => [
    [$.type_base, $._primary],
    [$.set_type, $._primary],
    [$.prefix, $._word],
  ],

  rules: {
    file: ($) => seq(repeat($.import), choice($.system, $.library)),

    line_comment: () => token(seq('//', /[^\n]*/)),
    block_comment: () => token(seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/')),

    name: () => /[A-Za-z_][A-Za-z0-9_]*/,
    number: () => /[0-9][0-9A-Za-z_]*/,
    text: () => /"(\\.|[^"\\\n])*"/,

    import: ($) => seq('import', $.text, ';'),
    system: ($) => seq('system', field('name', $.name), '{', repeat($._item), '}'),
    library: ($) => seq('library', field('name', $.name), '{', repeat($._item), '}'),

    _item: ($) =>
      choice(
        $.constants,
        $.alias,
        $.enumeration,
        $.record,
        $.variables,
        $.function,
        $.procedure,
        $.thread,
        $.property,
        $.expectation,
        $.refinement,
      ),

    constants: ($) =>
      seq(
        'const',
        field('name', $.name),
        choice(seq('=', $._expression, ';'), seq('{', repeat1($.constant), '}', optional(';'))),
      ),
    constant: ($) => seq(field('name', $.name), '=', $._expression, choice(';', ',')),

    alias: ($) => seq(optional('symmetric'), 'typealias', field('name', $.name), $.type, ';'),
    enumeration: ($) =>
      seq('enum', field('name', $.name), '{', $.name, repeat(seq(',', $.name)), optional(','), '}', optional(';')),
    record: ($) => seq('record', field('name', $.name), '{', repeat($.variables), '}', optional(';')),

    variables: ($) => seq($.type, $.declarator, repeat(seq(',', $.declarator)), ';'),
    declarator: ($) => seq(field('name', $.name), optional(seq(':=', choice($._expression, $.choice)))),

    type: ($) => prec.right(seq($.type_base, repeat(seq('[', $._expression, ']')))),
    type_base: ($) =>
      choice(
        'boolean',
        'byte',
        'int',
        seq('int', optional('wrap'), '(', $._expression, ',', $._expression, ')'),
        $.set_type,
        $.channel_type,
        $.sequence_type,
        $.map_type,
        seq($.name, 'or', 'nobody'),
        $.name,
      ),
    set_type: ($) => seq('set', 'of', choice(seq($._expression, '..', $._expression), field('members', $.name))),
    channel_type: ($) => seq(repeat(choice('lossy', 'duplicating', 'reordering')), 'channel', 'of', $.type),
    sequence_type: ($) => seq('sequence', 'of', $.type),
    map_type: ($) =>
      seq('map', 'of', choice(seq($._expression, '..', $._expression), field('keys', $.name)), 'to', $.type),

    params: ($) => seq('(', list($.param), ')'),
    param: ($) => seq($.type, field('name', $.name)),

    function: ($) => seq('function', field('name', $.name), $.params, ':', $.type, '=', $._expression, ';'),
    procedure: ($) => seq('procedure', field('name', $.name), $.params, $.block),

    thread: ($) =>
      seq(
        optional('fair'),
        optional('active'),
        optional(seq('[', $._expression, ']')),
        'thread',
        field('name', $.name),
        $.params,
        optional(seq('crashes', optional(seq('when', $._expression)))),
        '{',
        repeat(choice($.variables, seq('durable', $.variables), $.on_block)),
        choice(repeat1($.location), repeat1($._statement)),
        '}',
      ),

    on_block: ($) => seq('on', choice('crash', 'restart'), $.block),

    location: ($) => seq('loc', field('name', $.name), ':', repeat($.mark), repeat1($.transformation)),
    mark: () => choice('end', 'accept', 'progress'),
    transformation: ($) =>
      seq(optional('fair'), optional(seq('when', $._expression)), 'do', $.block, optional($.jump)),
    jump: ($) => seq(choice(seq('goto', $.name), 'return'), ';'),

    block: ($) => seq('{', repeat($._statement), '}'),
    _statement: ($) => seq(repeat($.label), optional('fair'), $._plain_statement),
    label: ($) => seq(field('name', $.name), ':', repeat($.mark)),
    _plain_statement: ($) =>
      choice(
        $.assignment,
        $.assertion,
        $.assumption,
        $.start_statement,
        $.skip_statement,
        $.await_statement,
        $.if_statement,
        $.while_statement,
        $.for_statement,
        $.either_statement,
        $.atomic_statement,
        $.break_statement,
        $.send_statement,
        $.receive_statement,
        $.broadcast_statement,
        $.call_statement,
        $.jump,
      ),

    assignment: ($) => seq($._postfix, ':=', choice($._expression, $.choice), ';'),
    choice: ($) => seq('choose', '(', $._expression, optional(seq(',', $._expression)), ')'),
    assertion: ($) => seq('assert', $._expression, optional(seq(',', $.text)), ';'),
    assumption: ($) => seq('assume', $._expression, ';'),
    start_statement: ($) => seq('start', $.name, $.arguments, ';'),
    skip_statement: () => seq('skip', ';'),
    await_statement: ($) => seq('await', $._expression, ';'),
    if_statement: ($) =>
      seq(
        'if',
        $.parenthesised,
        $.block,
        repeat(seq('else', 'if', $.parenthesised, $.block)),
        optional(seq('else', $.block)),
      ),
    while_statement: ($) => seq('while', $.parenthesised, $.block),
    for_statement: ($) => seq('for', '(', $.name, ':', $._expression, '..', $._expression, ')', $.block),
    either_statement: ($) => seq('either', $.block, repeat1(seq('or', $.block))),
    atomic_statement: ($) => seq('atomic', $.block),
    break_statement: () => seq('break', ';'),
    send_statement: ($) => seq('send', $.channel, $.arguments, ';'),
    receive_statement: ($) => seq('receive', $.channel, $.patterns, optional(seq('when', $._expression)), ';'),
    broadcast_statement: ($) =>
      seq('broadcast', $.channel, $.arguments, optional(seq('except', $._expression)), ';'),
    channel: ($) => seq($.name, repeat(seq('[', $._expression, ']'))),
    patterns: ($) => seq('(', list(choice($.binding, $._expression)), ')'),
    binding: ($) => seq('?', $._place),
    // `broadcast(c);` calls a procedure of that name, as `std/condition.bir` has one.
    call_statement: ($) => seq(choice($.name, alias('broadcast', $.name)), $.arguments, ';'),
    arguments: ($) => seq('(', list($._expression), ')'),

    property: ($) =>
      seq(choice('invariant', 'reachable', 'ltl', 'ctl', 'mu'), field('name', $.name), ':', $._expression, ';'),

    expectation: ($) =>
      seq('expect', optional(seq('(', list($.given), ')', ':')), $.clause, repeat(seq(',', $.clause)), ';'),
    given: ($) => seq($.name, repeat(seq('.', $.name)), '=', $._expression),
    clause: ($) =>
      choice(
        seq('holds', optional(field('property', $.name))),
        seq(choice('violated', 'reached'), field('property', $.name), optional(seq('in', $.number))),
        seq($.number, choice('states', 'transitions')),
        seq('depth', $.number),
      ),

    refinement: ($) => seq('refines', field('name', $.name), '{', repeat($.mapped), '}'),
    mapped: ($) =>
      seq(field('name', $.name), repeat(choice(seq('[', $.mapped_index, ']'), seq('.', $.name))), '=', $._expression, ';'),
    mapped_index: ($) => choice($._expression, seq($.name, ':', $._expression, '..', $._expression)),

    _place: ($) => choice($.name, alias($._word, $.name), $.index, $.member),

    _expression: ($) => choice($.conditional, $.quantifier, $.let, $.fixpoint, $.binary, $.prefix, $._postfix),

    conditional: ($) =>
      prec.right(PREC.conditional, seq($._expression, '?', $._expression, ':', $._expression)),
    quantifier: ($) =>
      choice(
        prec.right(0, seq(choice('forall', 'exists'), $.domain, $._expression)),
        prec.right(PREC.prefix, seq(choice('count', 'sum'), $.domain, $._expression)),
      ),
    domain: ($) => seq('(', $.name, choice(seq(':', $._expression, '..', $._expression), seq('in', $._expression)), ')'),
    fixpoint: ($) => prec.right(0, seq(choice('mu', 'nu'), $.name, '.', $._expression)),
    let: ($) => prec.right(0, seq('let', $.name, '=', $._expression, 'in', $._expression)),

    binary: ($) =>
      choice(
        prec.right(PREC.iff, seq($._expression, '<->', $._expression)),
        prec.right(PREC.implies, seq($._expression, choice('=>', '->'), $._expression)),
        prec.left(PREC.or, seq($._expression, '||', $._expression)),
        prec.left(PREC.and, seq($._expression, '&&', $._expression)),
        prec.right(
          PREC.temporal,
          seq($._expression, choice('U', 'W', 'R', 'until', 'weakuntil', 'release'), $._expression),
        ),
        prec.left(PREC.equality, seq($._expression, choice('==', '!='), $._expression)),
        prec.left(PREC.relation, seq($._expression, choice('<', '<=', '>', '>=', 'in'), $._expression)),
        prec.left(PREC.sum, seq($._expression, choice('+', '-'), $._expression)),
        prec.left(PREC.product, seq($._expression, choice('*', '/', '%'), $._expression)),
      ),

    prefix: ($) =>
      prec(
        PREC.prefix,
        seq(
          choice(
            ...['!', '-', '<>', 'X', 'G', 'F', 'next', 'always', 'eventually', 'AX', 'AF', 'AG', 'EX', 'EF', 'EG'],
            seq('[', ']'),
            $.modality,
          ),
          $._expression,
        ),
      ),

    modality: ($) => choice('<->', seq('<', choice('-', $._postfix), '>'), seq('[', choice('-', $._postfix), ']')),

    _postfix: ($) => choice($.index, $.member, $.at, $.call, $._primary),
    index: ($) => prec.left(PREC.postfix, seq($._postfix, '[', $._expression, ']')),
    member: ($) => prec.left(PREC.postfix, seq($._postfix, '.', $.name)),
    at: ($) => prec.left(PREC.postfix, seq($._postfix, '@', $.name)),
    call: ($) => prec(PREC.postfix, seq($.name, $.arguments)),

    // Words that are names where no operand follows them.
    _word: () => prec(PREC.prefix, choice(...['count', 'sum', 'next', 'always', 'eventually', 'X', 'G', 'F', 'AX', 'AF', 'AG', 'EX', 'EF', 'EG', 'mu', 'nu'])),
    _primary: ($) => choice($.name, alias($._word, $.name), $.number, $.boolean, $.set, $.parenthesised),
    boolean: () => choice('true', 'false'),
    set: ($) => seq('{', list($._expression), '}'),
    parenthesised: ($) => seq('(', $._expression, ')'),
  },
});
