import { finalText, tellTimes } from '../../client-model/index.ts'
import { duration } from '../terminal/text.ts'
import type { Field } from './fields.ts'

/** The fields of a WorkObject that say how often it was attempted. */
export const ATTEMPTS = 'maxAttempts attempts { number agent begunAt endedAt notBefore finalBy error { code message } }'
export interface Attempted {
  readonly maxAttempts?: number | null | undefined
  readonly attempts?:
    | readonly {
        readonly number: number
        readonly agent: string | null
        readonly begunAt: string | null
        readonly endedAt: string | null
        readonly notBefore: string | null
        readonly finalBy: 'AGENT' | 'POLICY' | null
        readonly error: { readonly code: string; readonly message: string } | null
      }[]
    | undefined
}

/** Each attempt of work that has a retry policy, such as `1 of 3, by host-1, 2 s: FLAKY: It broke.` */
export function describeAttempts({ attempts = [], maxAttempts }: Attempted, now: number): readonly Field[] {
  return attempts.map((attempt) => {
    const { number, agent, begunAt, endedAt, notBefore, error } = attempt
    const took = begunAt && endedAt && duration(Date.parse(endedAt) - Date.parse(begunAt))
    const when = took ?? (begunAt ? `since ${begunAt}` : notBefore ? tellTimes(`not before ${notBefore}`, now) : 'next')
    const parts = [`${number} of ${maxAttempts}`, agent && `by ${agent}`, when, finalText(attempt)]
      .filter(Boolean)
      .join(', ')
    return ['attempt', error ? `${parts}: ${error.code}: ${error.message}` : parts]
  })
}
