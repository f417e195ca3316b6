import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter } from '../../src/client/gadget/line-splitter.ts'
import { GadgetOutput } from '../../src/core/gadget/output.ts'
import { parseGadgetLine } from '../../src/core/gadget/protocol.ts'

describe('a line of a gadget', () => {
  it.each([
    ['STEP Copy backup image a b', { type: 'step', text: 'Copy backup image a b' }],
    ['step\tx  ', { type: 'step', text: 'x' }],
    ['ProgInfo 250 MiB', { type: 'proginfo', total: 250, unit: 'MiB' }],
    ['PROGINFO 1.5e3 rows of a table', { type: 'proginfo', total: 1500, unit: 'rows of a table' }],
    ['PROG 0.5', { type: 'prog', done: 0.5 }],
    ['LOCK server:db1.example.com=X', { type: 'lock', resource: 'server:db1.example.com', mode: 'EXCLUSIVE' }],
    ['lock FILE:/a=b=s', { type: 'lock', resource: 'file:/a=b', mode: 'SHARED' }],
    ['EXPORT url "http://127.0.0.1:1/"', { type: 'export', name: 'url', value: 'http://127.0.0.1:1/' }],
    ['EXPORT a_1 {"b": [null, 1]}', { type: 'export', name: 'a_1', value: { b: [null, 1] } }],
    ['Protocol text-1.0', { type: 'protocol', version: 'text-1.0' }],
    ['Error No such host', { type: 'error', message: 'No such host' }],
    ['ERROR', { type: 'error', message: 'The gadget gave no reason.' }],
  ])('%j', (line, parsed) => {
    expect(parseGadgetLine(line)).toEqual(parsed)
  })

  it.each([
    '',
    '   ',
    ' STEP x',
    'STEP',
    'STEPS x',
    'constructor x',
    'PROG',
    'PROG -1',
    'PROG 1 2',
    'PROG NaN',
    'PROG 1e999',
    'PROG 0x10',
    'PROGINFO 250',
    'PROGINFO many rows',
    'LOCK db1=X',
    'LOCK server:db1',
    'LOCK server:db1=Z',
    'LOCK server:db 1=X',
    `LOCK server:${'x'.repeat(250)}=X`,
    'EXPORT url',
    'EXPORT url http://unquoted',
    'EXPORT 1a 1',
    'Protocol',
    'STEP \u001b[2J',
    'STEP \0',
  ])('is malformed: %j', (line) => {
    expect(parseGadgetLine(line)).toMatchObject({ type: 'malformed' })
  })

  it('never throws, and takes no time to speak of', () => {
    const word = fc.constantFrom('STEP', 'PROG', 'PROGINFO', 'LOCK', 'EXPORT', 'Protocol', 'Error', '')
    fc.assert(
      fc.property(word, fc.string({ unit: 'binary' }), (first, rest) => {
        expect(parseGadgetLine(`${first} ${rest}`).type).toBeTypeOf('string')
      }),
    )
    const started = performance.now()
    for (const first of ['STEP', 'PROG', 'PROGINFO', 'LOCK', 'EXPORT']) {
      for (const filler of [' ', 'a', '=', ':', '1', 'a ', '[']) parseGadgetLine(`${first} x${filler.repeat(60_000)}x`)
    }
    expect(performance.now() - started).toBeLessThan(30_000)
  })
})

describe('the output of a gadget', () => {
  const read = (mode: 'run' | 'undo' | 'abort' | 'getlocks', lines: readonly string[]) => {
    const progress: unknown[] = []
    const output = new GadgetOutput(mode, { onProgress: (now) => progress.push(now) })
    for (const line of lines) output.take(line, false)
    return { output, progress }
  }

  it('clears the progress with a new step', () => {
    const { progress, output } = read('run', ['STEP a', 'PROGINFO 5 GiB', 'PROG 2.36', 'STEP b', 'PROG 3'])
    expect(progress).toEqual([
      { step: 'a', value: null, total: null, unit: null },
      { step: 'a', value: 0, total: 5, unit: 'GiB' },
      { step: 'a', value: 2.36, total: 5, unit: 'GiB' },
      { step: 'b', value: null, total: null, unit: null },
    ])
    expect(output.problem).toBe('Line 5: PROG before PROGINFO.')
  })

  it('merges locks to the stronger mode', () => {
    const { output } = read('getlocks', ['LOCK s:a=S', 'LOCK s:b=X', 'LOCK s:a=X', 'LOCK s:b=S'])
    expect(output.locks).toEqual([
      { resource: 's:a', mode: 'EXCLUSIVE' },
      { resource: 's:b', mode: 'EXCLUSIVE' },
    ])
  })

  it.each([
    ['run', 'LOCK s:a=S'],
    ['getlocks', 'STEP a'],
    ['undo', 'EXPORT a 1'],
    ['run', 'Protocol text-2.0'],
  ] as const)('is broken in %s by %j, and stays so', (mode, line) => {
    const { output } = read(mode, [line, 'Error later'])
    expect(output.problem).toMatch(/^Line 1: /)
    expect(output.error).toBeNull()
  })

  it('has bounds', () => {
    const endless = new GadgetOutput('run', {})
    let taken = 0
    while (endless.take('STEP x', false)) taken += 1
    expect(taken).toBe(100_000)
    expect(
      read(
        'run',
        Array.from({ length: 101 }, (_, i) => `EXPORT a${i} 1`),
      ).output.problem,
    ).toMatch('100 exports')
    expect(new GadgetOutput('run', {}).take('STEP', true)).toBe(false)
  })
})

describe('LineSplitter', () => {
  it('finds the same lines however the bytes arrive', () => {
    const text = 'STEP ä€😀\r\n\nlast line without an end'
    const bytes = Buffer.from(text)
    for (let size = 1; size <= bytes.length; size += 1) {
      const lines: string[] = []
      const splitter = new LineSplitter(100, (line) => lines.push(line))
      for (let at = 0; at < bytes.length; at += size) splitter.write(bytes.subarray(at, at + size))
      splitter.end()
      expect(lines).toEqual(['STEP ä€😀', '', 'last line without an end'])
    }
  })

  it('cuts a line within no character', () => {
    for (const [text, kept] of [
      ['xxxxxxxxä', 'xxxxxxxxä'],
      ['xxxxxxxxxä', 'xxxxxxxxx'],
      ['xxxxxxx€', 'xxxxxxx€'],
      ['xxxxxxxx€', 'xxxxxxxx'],
      ['xxxxxxxxx€', 'xxxxxxxxx'],
      ['xxxxxx😀', 'xxxxxx😀'],
      ['xxxxxxx😀', 'xxxxxxx'],
      ['xxxxxxxxx😀', 'xxxxxxxxx'],
    ]) {
      const lines: string[] = []
      const splitter = new LineSplitter(10, (line) => lines.push(line))
      splitter.write(Buffer.from(`${text}x\n`))
      expect(lines).toEqual([kept])
    }
  })

  it('keeps no more of a line than it may', () => {
    const lines: [number, boolean][] = []
    const splitter = new LineSplitter(10, (line, tooLong) => lines.push([line.length, tooLong]))
    for (let i = 0; i < 1000; i += 1) splitter.write(Buffer.from('xxxxx'))
    splitter.write(Buffer.from('\n1234567890\n'))
    expect(lines).toEqual([
      [10, true],
      [10, false],
    ])
  })
})
