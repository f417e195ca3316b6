import { startAddresses } from '../testkit/addresses.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import { startReceiver } from '../testkit/receiver.ts'
import type { ReceivedMessage } from './evidence.ts'
import { machineMs } from './machine-clock.ts'

/** Receivers of notifications, and addresses of gates, that fail, hang, lose answers and come back, in turns that the seed decides. */

export interface ChaosReceiver extends AsyncDisposable {
  readonly url: string
  readonly messages: readonly ReceivedMessage[]
  /** From now on it takes everything. */
  heal(): void
}

export interface ChaosAddress extends AsyncDisposable {
  /** Makes the address of a tree's gate. It answers that the gate may open from one of the first three questions on. */
  of(tree: string): string
  /** The trees whose gates may open by an answer. */
  readonly answered: ReadonlySet<string>
  heal(): void
}

/** Seldom enough that no message fails often: its next attempt would be later than a run waits for it. */
const MOODS = [...Array<'takes'>(9).fill('takes'), 'fails', 'hangs', 'loses the answer'] as const
const LONGEST_MS = 6_000

export async function startChaosReceiver(seed: number): Promise<ChaosReceiver> {
  const moods = moodsOf(mulberry32(seed))
  const receiver = await startReceiver()
  const messages: ReceivedMessage[] = []
  receiver.answer = ({ headers, body }) => {
    const mood = moods.next()
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
    heal: moods.heal,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}

export async function startChaosAddress(seed: number): Promise<ChaosAddress> {
  const random = mulberry32(seed)
  const moods = moodsOf(random)
  const addresses = await startAddresses()
  const answered = new Set<string>()
  return {
    answered,
    of(tree) {
      let closed = Math.floor(random() * 3)
      addresses.answer(tree, () => {
        const mood = moods.next()
        if (mood === 'hangs') return new Promise(() => undefined)
        if (mood === 'fails') return [503, {}, '']
        const isOpen = closed-- <= 0
        if (isOpen) answered.add(tree)
        return mood === 'takes' ? [200, {}, JSON.stringify({ isOpen })] : null
      })
      return `${addresses.url}${tree}`
    },
    heal: moods.heal,
    [Symbol.asyncDispose]: () => addresses[Symbol.asyncDispose](),
  }
}

function moodsOf(random: () => number) {
  let mood: (typeof MOODS)[number] = 'takes'
  let until = 0
  return {
    next() {
      if (machineMs() > until) {
        mood = MOODS[Math.floor(random() * MOODS.length)] ?? 'takes'
        until = machineMs() + random() * LONGEST_MS
      }
      return mood
    },
    heal() {
      mood = 'takes'
      until = Number.POSITIVE_INFINITY
    },
  }
}
