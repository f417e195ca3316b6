export { PHASE_CLASSES, type PhaseClass } from '../core/machine.ts'
export { type Group, grouped } from './grouped.ts'
export { type Machine, Machines, undoneFailures } from './machines.ts'
export { MANIFEST_FRAGMENT } from './manifest-fragment.ts'
export { nextCursor, nodesOf, type Page, type PagedList, readBack, readOn, readPages } from './pages.ts'
export { type ClassCounts, countClasses, SYMBOLS, WORDS } from './phases.ts'
export {
  type FieldProblem,
  invalid,
  type Member,
  notFoundRefusal,
  type Outcome,
  outcomeOf,
  type Payload,
  REFUSAL_FRAGMENT,
  type Refusal,
  refused,
} from './refusal.ts'
