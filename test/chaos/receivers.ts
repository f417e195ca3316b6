import { mulberry32 } from '../testkit/mulberry32.ts'
import { startReceiver } from '../testkit/receiver.ts'
import type { ReceivedMessage } from './evidence.ts'
import { machineMs } from './machine-clock.ts'

/** Receivers of notifications that fail, hang, lose answers and come back, in turns that the seed decides. */

export interface ChaosReceiver extends AsyncDisposable {
  readonly url: string
  readonly messages: readonly ReceivedMessage[]
  /** From now on it takes everything. */
  heal(): void
}

/** Seldom enough that no message fails often: its next attempt would be later than a run waits for it. */
const MOODS = [...Array<'takes'>(9).fill('takes'), 'fails', 'hangs', 'loses the answer'] as const
const LONGEST_MS = 6_000

export async function startChaosReceiver(seed: number): Promise<ChaosReceiver> {
  const random = mulberry32(seed)
  const receiver = await startReceiver()
  const messages: ReceivedMessage[] = []
  let mood: (typeof MOODS)[number] = 'takes'
  let until = 0
  receiver.answer = ({ headers, body }) => {
    if (machineMs() > until) {
      mood = MOODS[Math.floor(random() * MOODS.length)] ?? 'takes'
      until = machineMs() + random() * LONGEST_MS
    }
    const { data } = JSON.parse(body) as {
      data: { rule: string; change: Pick<ReceivedMessage, 'objectId' | 'sequence' | 'to'> }
    }
    const { objectId, sequence, to } = data.change
    const id = String(headers['webhook-id'])
    messages.push({ id, rule: data.rule, objectId, sequence, to, atMs: machineMs(), isTaken: mood === 'takes' })
    return { takes: 204, fails: 503, hangs: 'hangs' as const, 'loses the answer': null }[mood]
  }
  return {
    url: receiver.url,
    messages,
    heal() {
      mood = 'takes'
      until = Number.POSITIVE_INFINITY
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}
