import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FamilyQuestion, FamilyQuestions, Node, Work } from '../../../src/core/tree.ts'
import { TreeSlice } from '../../../src/engine/slice/tree-slice.ts'
import { soak } from '../../testkit/soak.ts'
import { type History, history, type Plan, type RootPlan, Run, steady } from './job-histories.ts'
import { type MemoryOptions, MemoryWorld } from './memory.ts'

const property = (Slice?: MemoryOptions['Slice']) =>
  fc.asyncProperty(history, (one) => new Run(one, new MemoryWorld({ budget: one.budget, Slice })).play())

const part = { there: true, after: 0, size: 1, uses: false, reads: false }
const wanting = { optional: false, strict: false }
const planned = (items: Plan['items'], nested: Plan['nested'] = []): RootPlan => ({
  plan: { items, nested, reversed: false },
  wants: wanting,
  out: 'r',
  from: null,
})
const onRoot = (plan: RootPlan, acts: History['acts']): History => ({
  plans: [[plan]],
  linked: [false, false, false],
  gated: [],
  budget: 2_000,
  acts,
})
const data = (value: 1 | 2) => ({ do: 'data', value }) as const
const WORK = { do: 'work', fails: null, v: 1 } as const
const remove = (withoutUninstall: boolean) => ({ do: 'remove', root: 0, force: false, withoutUninstall }) as const
const claim = (leaseMs: 29_999 | 599_999) => ({ do: 'claim', which: 1, leaseMs }) as const
const pass = (ms: number) => ({ do: 'pass', ms }) as const
/** Rare histories, each of which has found a fault. */
const EXAMPLES: readonly History[] = [
  // The last item that could begin is kept after its execution has looked for such items: what is tied is STUCK.
  onRoot(
    planned([
      { ...part, uses: true },
      { ...part, after: 1 },
      { ...part, after: 1 },
    ]),
    [data(1), WORK, data(2), { do: 'tie', which: 0 }],
  ),
  onRoot(planned([part, { ...part, after: 1 }]), [data(1), WORK, remove(false), remove(true), WORK]),
  // A job begins at once after the one before, and one of the values that a schema judges is as it was.
  onRoot(
    planned(
      [],
      [
        { there: true, links: 4, plan: planned([part]).plan, literal: 2, wants: wanting },
        { there: true, links: 3, plan: planned([]).plan, literal: 1, wants: { optional: false, strict: true } },
      ],
    ),
    [data(2), data(1), WORK],
  ),
  onRoot(planned([part]), [
    data(1),
    claim(599_999),
    { do: 'report', root: 0, which: 1, answers: ['returned', 'returned', 'returned', 'returned'], v: 1 },
    pass(1_000),
    claim(29_999),
    { do: 'cancel', root: 0 },
    pass(30_000),
  ]),
  onRoot(planned([part]), [data(1), pass(300_000)]),
  // The importer does not import any more, but no job without the import has succeeded.
  {
    plans: [[planned([part])], [{ ...planned([part]), from: 'r' }, planned([part])]],
    linked: [false, true, false],
    gated: [],
    budget: 2_000,
    acts: [data(1), WORK, { do: 'update', root: 1, plan: 1, reconcile: false }, remove(false)],
  },
]

const examples = EXAMPLES.map((one): [History] => [one])

it(
  'each job offers, keeps and ends what the model says',
  async () => {
    await fc.assert(property(), { numRuns: soak(300, 10_000), examples })
  },
  soak(120_000, 3_600_000),
)

const between = (Slice?: MemoryOptions['Slice']) =>
  fc.asyncProperty(
    history.map(steady),
    fc.array(fc.constantFrom(0, 1, 1, 2, 5), { minLength: 1, maxLength: 6 }),
    async (one, turns) => {
      await new Run(one, new MemoryWorld({ budget: one.budget, Slice })).playBetween(turns)
    },
  )

it(
  'acts between two transactions do not change where it all ends',
  async () => {
    await fc.assert(between(), { numRuns: soak(100, 10_000) })
  },
  soak(120_000, 3_600_000),
)

/** Faults that the property must find. */
const FAULTS: Readonly<Record<string, typeof TreeSlice>> = {
  'a conclusion while releases are queued': class extends TreeSlice {
    override isReleasing(): boolean {
      return false
    }
  },
  'a conclusion before those that are kept have decided': class extends TreeSlice {
    override isAtRest(): boolean {
      return true
    }
  },
  'a lost release': class extends TreeSlice {
    #releases = 0
    override release(...args: Parameters<TreeSlice['release']>): void {
      if (++this.#releases % 3 !== 0) super.release(...args)
    }
  },
  'an early STUCK': class extends TreeSlice {
    override readyChildren(...[node, after, limit]: Parameters<TreeSlice['readyChildren']>) {
      return limit === 1 ? [] : super.readyChildren(node, after, limit)
    }
  },
  'a late STUCK': class extends TreeSlice {
    override readyChildren(...[node, after, limit]: Parameters<TreeSlice['readyChildren']>) {
      return limit === 1 ? undefined : super.readyChildren(node, after, limit)
    }
  },
  'an installation that is kept although one below it was passed over': class extends TreeSlice {
    override ask<Q extends FamilyQuestion>(question: Q, args: FamilyQuestions[Q]['args']) {
      return question === 'containsOutdated' ? (false as FamilyQuestions[Q]['answer']) : super.ask(question, args)
    }
  },
  'a deletion that changes the one that runs': class extends TreeSlice {
    override setDetails(node: Node, patch: object): void {
      const { withoutUninstall } = (patch as { nextOrigin?: { withoutUninstall?: boolean } }).nextOrigin ?? {}
      super.setDetails(node, withoutUninstall === undefined ? patch : { ...patch, withoutUninstall })
    }
  },
  'a schema that accepts everything': class extends TreeSlice {
    override validate() {
      return { ok: true, value: null } as const
    }
  },
  'a lease whose end nobody watches': class extends TreeSlice {
    override setWork(node: Node, patch: Partial<Work>): void {
      super.setWork(node, { ...patch, leaseWatched: false })
    }
  },
  'a clock that never ends': class extends TreeSlice {
    override setWork(node: Node, patch: Partial<Work>): void {
      super.setWork(node, { ...patch, dueAt: null })
    }
  },
  'work that is offered again at once': class extends TreeSlice {
    override setWork(node: Node, patch: Partial<Work>): void {
      super.setWork(node, { ...patch, offerAfter: null })
    }
  },
  'an exporter that forgets who has imported from it': class extends TreeSlice {
    override ask<Q extends FamilyQuestion>(question: Q, args: FamilyQuestions[Q]['args']) {
      return super.ask(question === 'pinScope' ? ('rootScope' as Q) : question, args)
    }
  },
  'a lost touch': class extends TreeSlice {
    #touches = 0
    override touch(...args: Parameters<TreeSlice['touch']>): void {
      if (++this.#touches % 20 !== 0) super.touch(...args)
    }
  },
}
it.each(Object.entries(FAULTS))('finds %s', async (_fault, Slice) => {
  const { failed } = await fc.check(property(Slice), { numRuns: 2_000, endOnFailure: true, examples })
  expect(failed).toBe(true)
})
it('finds a lost touch between acts, too', async () => {
  const { failed } = await fc.check(between(FAULTS['a lost touch']), { numRuns: 2_000, endOnFailure: true })
  expect(failed).toBe(true)
})
