import type { FamilyApi } from '../graphql/family.ts'
import type { Family } from './family.ts'

/** Stubs for a family that has no objects: nothing of the engine's reaches its rules, and it adds no kind to the API. */

export const rulesWithoutObjects = (name: string): Family => ({
  name,
  machines: [],
  details: [],
  decide: () => {},
  onWake: () => {},
  report: (_, { phase }) => ({ ok: false, refused: 'TRANSITION', to: phase ?? 'GONE' }),
  claimed: () => {},
  questions: {},
  effects: {},
})

export const apiWithoutObjects: FamilyApi = {
  blockers: async (_, rows) => rows.map(() => []),
  deadlines: async (_, rows) => rows.map(() => []),
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
}
