import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { table, tableFor } from '../../src/cli/terminal/table.ts'
import { columns, duration, pad, shorten } from '../../src/cli/terminal/text.ts'
import { CLASS_SYMBOLS, tellTimes } from '../../src/client-model/index.ts'

describe('text for a terminal', () => {
  it('counts columns, not code units', () => {
    expect(columns('naïve')).toBe(5)
    expect(columns('e\u0301')).toBe(1)
    expect(columns('日本')).toBe(4)
    expect(columns('🚀')).toBe(2)
    expect(columns('👨‍👩‍👧')).toBe(2)
  })

  it('counts the symbols of phases as the tables of all scripts do', () => {
    const symbols = Object.values(CLASS_SYMBOLS)
    expect(symbols.map(columns)).toEqual(symbols.map((one) => stringWidth(one)))
  })

  it.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['日本語', 4, '日…'],
    ['abc', 0, ''],
  ])('shortens %s to %i columns', (text, width, expected) => {
    expect(shorten(text, width)).toBe(expected)
    expect(columns(shorten(text, width))).toBeLessThanOrEqual(width)
  })

  it('pads to exactly the width', () => {
    expect(pad('日', 4)).toBe('日  ')
    expect(pad('7', 3, 'start')).toBe('  7')
    expect(pad('abcdef', 3)).toBe('ab…')
  })

  it('adds to each time how far it is from now', () => {
    const now = Date.parse('2026-01-01T00:00:00.000Z')
    const told = (sentence: string) => tellTimes(sentence, now)
    expect(told('It is offered again at 2026-01-01T00:00:30.000Z. Its last try failed.')).toBe(
      'It is offered again at 2026-01-01T00:00:30.000Z (in 30.0s). Its last try failed.',
    )
    expect(told('From 2025-12-31T23:57:00Z to 2026-01-02T00:00:00Z')).toBe(
      'From 2025-12-31T23:57:00Z (3m 00s ago) to 2026-01-02T00:00:00Z (in 1d 00h)',
    )
    for (const sentence of ['', 'At 99.', 'Made at 2026-13-41T25:61:61Z.']) expect(told(sentence)).toBe(sentence)
  })

  it.each([
    [0, '0ms'],
    [999, '999ms'],
    [4230, '4.2s'],
    [59_949, '59.9s'],
    [59_950, '1m 00s'],
    [185_000, '3m 05s'],
    [3_600_000, '1h 00m'],
    [90_000_000, '1d 01h'],
  ])('says %i ms as %s', (ms, expected) => {
    expect(duration(ms)).toBe(expected)
  })

  it('aligns a table and keeps one row on one line', () => {
    expect(
      table(
        ['NAME', 'WHY'],
        [
          ['a', 'x\ny'],
          ['日本', 'z'],
        ],
      ),
    ).toEqual(['NAME  WHY', 'a     x y', '日本  z'])
  })
})

describe('a table on a terminal', () => {
  const head = ['PROJECT', 'NAME', 'ID', 'ERROR']
  const rows = [
    ['web', 'a-rather-long-name-of-an-object', '0190-1234', 'an error that takes a lot of room'],
    ['shop', 'b', '0190-5678', ''],
  ]
  it('fits, and shortens what is longest, but never an id', () => {
    for (const width of [40, 60, 200]) {
      const lines = tableFor(head, rows, { columns: width })
      for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(Math.max(width, 45))
      expect(lines[1]).toContain('0190-1234')
    }
    expect(tableFor(head, rows, { columns: 60 })[1]).toContain('…')
    expect(tableFor(head, rows, { columns: 60, format: 'wide' })).toEqual(table(head, rows))
    expect(tableFor(head, rows, {})).toEqual(table(head, rows))
  })
  it('is its names alone, for other programs', () => {
    expect(tableFor(head, rows, { format: 'name' })).toEqual(['web/a-rather-long-name-of-an-object', 'shop/b'])
  })
})
