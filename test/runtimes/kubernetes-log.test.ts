import { expect, test } from 'vitest'
import {
  LOG_START,
  LogLines,
  readPosition,
  secondOf,
  writePosition,
} from '../../src/families/pipelines/agents/kubernetes/log-lines.ts'

const at = (second: number, nanos = '000000000'): string => `2026-11-23T12:00:0${second}.${nanos}Z`
const LOG = [
  `${at(1)} one`,
  `${at(1)} two`,
  `${at(1, '000000001')} `,
  `${at(1, '000000001')} four with 2026-11-23T12:00:01Z in it`,
  `2026-11-23T14:00:02.5+02:00 five`,
  `${at(3)} six`,
  '',
].join('\n')
const TEXT = 'one\ntwo\n\nfour with 2026-11-23T12:00:01Z in it\nfive\nsix\n'

test('reading that breaks off anywhere goes on without a gap, and nothing comes twice', () => {
  for (let cut = 0; cut <= LOG.length; cut += 1) {
    let text = ''
    const take = (part: Buffer): void => {
      text += part
    }
    const first = new LogLines(LOG_START, take)
    first.write(Buffer.from(LOG.slice(0, cut)))
    const second = secondOf(first.position)
    const from = second === undefined ? 0 : LOG.split('\n').findIndex((line) => line >= second.slice(0, 19))
    const again = new LogLines(first.position, take)
    for (const line of LOG.split('\n').slice(from)) again.write(Buffer.from(`${line}\n`))
    expect(text, `cut at ${cut}`).toBe(TEXT)
  }
})

/** As a node stores what is written to both outputs at once. */
const MIXED = [
  `${at(1, '9')} one`,
  `${at(2, '2')} two`,
  `${at(2, '1')} stamped before two`,
  `${at(1, '8')} stamped a second before`,
  `${at(2, '25')} two again`,
  `${at(2, '3')} three`,
  `${at(2, '0')} last`,
  '',
].join('\n')

test('a line that is stamped before the one above it is not taken for one that was passed on', () => {
  const whole = MIXED.replace(/^\S+ /gm, '')
  for (let cut = 0; cut <= MIXED.length; cut += 1) {
    let text = ''
    const take = (part: Buffer): void => {
      text += part
    }
    const first = new LogLines(LOG_START, take)
    first.write(Buffer.from(MIXED.slice(0, cut)))
    const since = secondOf(first.position)?.slice(0, 19) ?? ''
    const again = new LogLines(first.position, take)
    const kept = MIXED.split(/(?<=\n)/).filter((line) => line.slice(0, 19) >= since)
    again.write(Buffer.from(kept.join('')))
    expect(text, `cut at ${cut}`).toBe(whole)
  }
})

test('a node that has thrown away the line passed on last is read on from the next one', () => {
  let text = ''
  const first = new LogLines(LOG_START, () => {})
  first.write(Buffer.from(`${at(1)} one\n${at(2)} two\n`))
  const again = new LogLines(first.position, (part) => {
    text += part
  })
  again.write(Buffer.from(`${at(3)} three\n${at(2, '5')} side by side\n`))
  expect(text).toBe('three\nside by side\n')
})

test('the next process repeats at most the line that was being read', () => {
  let text = ''
  const first = new LogLines(LOG_START, () => {})
  first.write(Buffer.from(LOG.slice(0, LOG.indexOf('four') + 2)))
  const again = new LogLines(readPosition(writePosition(first.position)), (part) => {
    text += part
  })
  for (const byte of Buffer.from(LOG)) again.write(Buffer.from([byte]))
  expect(text).toBe('four with 2026-11-23T12:00:01Z in it\nfive\nsix\n')
  expect(readPosition('nonsense')).toEqual(LOG_START)
})

test('what a node says instead of output is passed over', () => {
  let text = ''
  const lines = new LogLines(LOG_START, (part) => {
    text += part
  })
  lines.write(Buffer.from(`${LOG}unable to retrieve container logs`))
  lines.write(Buffer.from(' for containerd://1\n'))
  expect({ text, isForeign: lines.isForeign }).toEqual({ text: TEXT, isForeign: true })
})
