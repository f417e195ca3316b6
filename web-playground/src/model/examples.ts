import { DEPLOYMENTS, EVERYTHING } from './examples-common.ts'
import { EDGE, OPERATIONS, PIPELINES } from './examples-families.ts'

/** An operation to begin with. */
export interface Example {
  readonly does: 'look' | 'create' | 'watch' | 'act'
  readonly title: string
  /** Where the operation says `"ID"`: that of the newest object of this kind is put there. */
  readonly needs?: string
  readonly operation: string
}
export interface ExampleFamily {
  readonly name: string
  readonly examples: readonly Example[]
}

export const EXAMPLES: readonly ExampleFamily[] = [
  { name: 'All kinds', examples: EVERYTHING },
  { name: 'Deployments', examples: DEPLOYMENTS },
  { name: 'Pipelines', examples: PIPELINES },
  { name: 'Operations', examples: OPERATIONS },
  { name: 'Edge', examples: EDGE },
]

export const DOES: Readonly<Record<Example['does'], string>> = {
  look: 'Look',
  create: 'Create',
  watch: 'Watch',
  act: 'Act',
}

/** With the id of an object that is there; as it is when there is none. */
export const filledIn = ({ operation }: Example, id: string | null): string =>
  id === null ? operation : operation.replaceAll('"ID"', JSON.stringify(id))
