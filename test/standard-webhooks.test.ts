import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  isWebhookSecret,
  sign,
  TOLERANCE_SECONDS,
  verify,
  WEBHOOK_HEADERS,
  WEBHOOK_SECRET_RULE,
} from '../src/standard-webhooks.ts'

// The published example of the specification's libraries.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const headers = (change: object = {}) => ({
  ...{ id: MESSAGE.id, timestamp: String(MESSAGE.timestamp), signature: SIGNATURE },
  ...change,
})
const at = (seconds: number) => (MESSAGE.timestamp + seconds) * 1_000
const OK = { ok: true, id: MESSAGE.id }

test('the published example is signed as it is published, and judged', () => {
  expect(sign([SECRET], MESSAGE)).toBe(SIGNATURE)
  expect(sign([SECRET.slice('whsec_'.length)], MESSAGE)).toBe(SIGNATURE)
  expect(verify([SECRET], headers(), MESSAGE.body, at(0))).toEqual(OK)
  expect(verify([SECRET], headers(), Buffer.from(MESSAGE.body), at(0))).toEqual(OK)
})

test('while a secret is replaced, either side may have both', () => {
  const both = sign([OTHER, SECRET], MESSAGE)
  expect(both.split(' ')).toHaveLength(2)
  expect(verify([SECRET], headers({ signature: both }), MESSAGE.body, at(0))).toEqual(OK)
  expect(verify([OTHER], headers({ signature: both }), MESSAGE.body, at(0))).toEqual(OK)
  expect(verify([OTHER, SECRET], headers(), MESSAGE.body, at(0))).toEqual(OK)
})

test('another body, id, time or secret, and signatures of other versions are refused', () => {
  const refusals = [
    verify([SECRET], headers(), `${MESSAGE.body} `, at(0)),
    verify([SECRET], headers({ id: 'msg_other' }), MESSAGE.body, at(0)),
    verify([SECRET], headers({ timestamp: String(MESSAGE.timestamp + 1) }), MESSAGE.body, at(0)),
    verify([OTHER], headers(), MESSAGE.body, at(0)),
    verify([], headers(), MESSAGE.body, at(0)),
    verify([SECRET], headers({ signature: SIGNATURE.replace('v1,', 'v1a,') }), MESSAGE.body, at(0)),
    verify([SECRET], headers({ signature: 'v1,' }), MESSAGE.body, at(0)),
    verify([SECRET], headers({ signature: `${'v1,AAAA '.repeat(8)}${SIGNATURE}` }), MESSAGE.body, at(0)),
  ]
  expect(refusals).toEqual(refusals.map(() => ({ ok: false, problem: 'NOT_SIGNED' })))
})

test('a message is good for five minutes, by either clock', () => {
  const judged = [-TOLERANCE_SECONDS - 1, -TOLERANCE_SECONDS, TOLERANCE_SECONDS, TOLERANCE_SECONDS + 1].map((age) => {
    const verdict = verify([SECRET], headers(), MESSAGE.body, at(age))
    return verdict.ok ? 'OK' : verdict.problem
  })
  expect(judged).toEqual(['TOO_NEW', 'OK', 'OK', 'TOO_OLD'])
})

test.each([
  { id: undefined },
  { signature: undefined },
  { timestamp: undefined },
  { timestamp: '1614265330.0' },
  { timestamp: '01614265330' },
  { timestamp: '1e9' },
  { id: '' },
])('headers that lack something are incomplete: %j', (change) => {
  expect(verify([SECRET], headers(change), MESSAGE.body, at(0))).toEqual({ ok: false, problem: 'INCOMPLETE' })
})

test('the signed text is id, time and body with dots between them', () => {
  const key = Buffer.alloc(32, 7)
  const text = `a.b.1.${'é'}`
  const expected = createHmac('sha256', key).update(text).digest('base64')
  expect(sign([OTHER], { id: 'a.b', timestamp: 1, body: 'é' })).toBe(`v1,${expected}`)
})

test('the headers have the names of the specification', () => {
  expect(Object.values(WEBHOOK_HEADERS)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
})

test('a secret is base64 of enough bytes', () => {
  expect(WEBHOOK_SECRET_RULE).toContain('base64')
  expect([SECRET, OTHER, SECRET.slice(6), OTHER.replace(/=+$/, '')].map(isWebhookSecret)).toEqual(Array(4).fill(true))
  expect(
    ['', 'whsec_', 'whsec_short', 'a word with blanks in it, and long', 'A'.repeat(400)].map(isWebhookSecret),
  ).toEqual(Array(5).fill(false))
})
