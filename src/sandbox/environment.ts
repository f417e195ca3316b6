import { type CelEnv, CelScalar, celEnv, celFunc } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { LIMITS } from './limits.ts'

const { BYTES, DOUBLE, INT, STRING } = CelScalar

/** Thrown by our own functions; the message has no values. */
export class Refused extends Error {}

export function tooLong(): Refused {
  return new Refused(`a text or bytes grew beyond ${LIMITS.output} characters`)
}

// JSON does not distinguish 2 from 2.0, so 1.5 * 2 must work for both.
const mixed = (name: string, compute: (l: number, r: number) => number) => [
  celFunc(name, [INT, DOUBLE], DOUBLE, (l, r) => compute(Number(l), r)),
  celFunc(name, [DOUBLE, INT], DOUBLE, (l, r) => compute(l, Number(r))),
]

// Doubling a text or bytes a few dozen times is the shortest way to exhaust the memory of the process: bytes lie
// outside of the worker's heap and so outside of its limit.
const bounded = [
  celFunc('_+_', [STRING, STRING], STRING, (l, r) => {
    if (l.length + r.length > LIMITS.output) throw tooLong()
    return l + r
  }),
  celFunc('_+_', [BYTES, BYTES], BYTES, (l, r) => {
    if (l.length + r.length > LIMITS.output) throw tooLong()
    const joined = new Uint8Array(l.length + r.length)
    joined.set(l)
    joined.set(r, l.length)
    return joined
  }),
]

/** CEL's standard functions, its strings extension, and arithmetic that mixes integers and fractions. */
export const environment: CelEnv = celEnv({
  funcs: [
    ...strings,
    ...bounded,
    ...mixed('_+_', (l, r) => l + r),
    ...mixed('_-_', (l, r) => l - r),
    ...mixed('_*_', (l, r) => l * r),
    ...mixed('_/_', (l, r) => l / r),
  ],
})
