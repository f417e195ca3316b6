import { randomUUID } from 'node:crypto'
import { type Client, ClientError } from 'phaseline/client'
import { z } from 'zod'
import { quote, Unanswerable } from './answer.ts'
import { type Prepared, preview, REQUEST } from './preview.ts'
import { type Tool, tool } from './tool.ts'

/**
 * Writing in two steps. A plan says what a request would do, and keeps what it has read: revision and generation of the object, its root
 * and its children. `apply` sends both, and the server compares and writes in one transaction. A plan is applied once.
 *
 * PLANNED --apply--> SENT --written, or refused--> gone
 *                     \--no answer--> PLANNED, under the same idempotency key
 */

/** The mutations that compare: others are not offered. A creation is refused if the name is taken by then. */
export const FENCED: ReadonlySet<string> = new Set([
  ...['createInstallation', 'updateInstallation', 'reconcileInstallation', 'cancelInstallation', 'deleteInstallation'],
  ...['approve', 'reject', 'pause', 'resume', 'retryNow', 'giveUpRetries'],
  ...['cancelTask', 'deleteTask', 'cancelEvent', 'deleteEvent'],
])
/** They take no key: repeated, they find the object gone, or its deletion requested. */
const WITHOUT_KEY: ReadonlySet<string> = new Set(['deleteInstallation', 'deleteTask', 'deleteEvent'])

/** The most that may be written; the rights of the token bound it as well. */
export interface Bounds {
  /** Null: all verbs. `apply` is that of manifests. */
  readonly verbs: ReadonlySet<string> | null
  /** Null: all projects. */
  readonly projects: ReadonlySet<string> | null
  /** Plans that may be applied. */
  readonly max: number
}
/** A person's word for it; false: they have declined. */
export type Approve = (question: string) => Promise<boolean>

const KEPT = 100
const VALID_MS = 10 * 60_000

interface Kept extends Prepared {
  readonly until: number
  readonly isCounted: boolean
}

/** The plans of one caller. */
export class Plans {
  readonly #bounds: Bounds
  readonly #plans = new Map<string, Kept>()
  #applied = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  keep(prepared: Prepared, now: number): string {
    this.#check(prepared)
    const [oldest] = this.#plans.keys()
    if (this.#plans.size >= KEPT && oldest !== undefined) this.#plans.delete(oldest)
    const id = randomUUID()
    this.#plans.set(id, { ...prepared, until: now + VALID_MS, isCounted: false })
    return id
  }

  /** Takes the plan out, so that nobody else applies it, and counts it. */
  take(id: string, now: number): Kept {
    const plan = this.#plans.get(id)
    if (!plan || plan.until < now) throw new Unanswerable(`There is no plan ${quote(id, 40)} any more: plan again.`)
    if (!plan.isCounted && this.#applied >= this.#bounds.max)
      throw new Unanswerable(`No more than ${this.#bounds.max} plans may be applied here.`)
    this.#plans.delete(id)
    if (!plan.isCounted) this.#applied += 1
    return { ...plan, isCounted: true }
  }
  /** Nothing was written. */
  giveBack(): void {
    this.#applied -= 1
  }
  /** Nobody knows: it counts, and may be sent again. */
  putBack(id: string, plan: Kept): void {
    this.#plans.set(id, plan)
  }

  #check({ verb, mutation, project }: Prepared): void {
    const { verbs, projects } = this.#bounds
    if (verbs && !verbs.has(verb))
      throw new Unanswerable(`${verb} may not be applied here: ${[...verbs].join(', ')} may.`)
    if (projects && !projects.has(project)) throw new Unanswerable(`Nothing in project ${project} may be written here.`)
    if (!FENCED.has(mutation))
      throw new Unanswerable(`${verb} cannot be planned: ${mutation} compares nothing with what was read.`)
  }
}

export const writingTools = (plans: Plans, approve: Approve | null): readonly Tool[] => [
  tool({
    name: 'plan',
    title: 'Plan',
    description:
      'Says what a verb or a manifest would do now, as what_would_happen does, and gives the id of a plan for apply. Nothing is written. A plan is valid for ten minutes, and once.',
    input: REQUEST,
    async run(request, call) {
      const { lines, data, prepared } = await preview(request, call)
      const id = plans.keep(prepared, call.now)
      const compared = prepared.ifUnchanged.length
      return {
        lines: [
          ...lines,
          `plan: ${id}${compared > 0 ? ` (refused if one of ${compared} objects has changed by then)` : ''}`,
        ],
        data: { ...data, plan: id },
      }
    },
  }),
  tool({
    name: 'apply',
    title: 'Apply',
    description:
      'Writes what a plan says, if nothing that the plan has read has changed meanwhile. Otherwise nothing is written: plan again.',
    input: { plan: z.string().max(64).describe('The id that the tool plan has answered with.') },
    async run({ plan: id }, { client, signal, now }) {
      const plan = plans.take(id, now)
      let isSent = false
      try {
        if (approve && !(await approve(plan.title))) throw new Unanswerable(`${plan.title} was not approved.`)
        isSent = true
        const refusal = await send(client, id, plan, signal)
        if (refusal) throw new Unanswerable(`Nothing was written: ${refusal.code}: ${quote(refusal.message ?? '')}`)
        return { lines: [`done: ${plan.title}`, 'The tool why says how it gets on.'], data: { applied: id } }
      } catch (error) {
        if (!isSent || isRefusal(error)) plans.giveBack()
        else plans.putBack(id, plan)
        throw error
      }
    },
  }),
]

/** Otherwise it may have been written: the key of the plan makes a repetition harmless. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Unanswerable || (error instanceof ClientError && !error.retryable)

interface Refused {
  readonly code: string
  readonly message?: string
}
/** The document is that of the dashboard's buttons, which servers with trusted documents know. */
async function send(
  client: Client,
  id: string,
  { mutation, input, ifUnchanged }: Kept,
  signal: AbortSignal,
): Promise<Refused | null> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  const document = `mutation Act($input: ${type}!) {
  answer: ${mutation}(input: $input) { __typename ... on Error { code message } }
}`
  const fenced = {
    ...input,
    ...(ifUnchanged.length > 0 && { ifUnchanged }),
    ...(!WITHOUT_KEY.has(mutation) && { idempotencyKey: `mcp:${id}` }),
  }
  const { answer } = await client.query<{
    readonly answer: { readonly code?: string; readonly message?: string } | null
  }>(document, { input: fenced }, { signal })
  return answer?.code === undefined ? null : { ...answer, code: answer.code }
}
