import { type KubernetesApi, unless } from '../../../../agents/kubernetes/api.ts'
import { fieldsOf, type KubernetesObject, MANAGER } from '../../../../agents/kubernetes/objects.ts'
import type { Placed } from './placed.ts'

interface Manager {
  readonly manager: string
  readonly operation: string
  readonly subresource?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

/** kubectl's names for what people have applied, created or edited, and the API server's for what was there before it kept them. */
const OF_PEOPLE = /^(kubectl|before-first-apply)/

/**
 * Takes the fields over that people have set before the adoption, as if they had been applied by us: a field that is not in
 * the manifest goes with the next apply, as it would have gone with theirs.
 */
export async function takeOver(api: KubernetesApi, found: KubernetesObject, { path }: Placed): Promise<void> {
  const { managedFields = [], resourceVersion } = found.metadata as KubernetesObject['metadata'] & {
    readonly managedFields?: readonly Manager[]
    readonly resourceVersion?: string
  }
  const taken = managedFields.filter(
    ({ manager, subresource }) => !subresource && (OF_PEOPLE.test(manager) || manager === MANAGER),
  )
  if (!taken.some(({ manager }) => manager !== MANAGER)) return
  const fieldsV1 = taken.reduce<unknown>((all, { fieldsV1: own }) => joined(all, own), {})
  const ours = { ...taken[0], manager: MANAGER, operation: 'Apply', fieldsV1 }
  const rest = managedFields.filter((one) => !taken.includes(one))
  // Another change at the same time: the next job takes the fields over.
  await unless([409], api.patch(path, { metadata: { resourceVersion, managedFields: [...rest, ours] } }))
}

/** Sets of fields are trees of maps. */
function joined(one: unknown, other: unknown): unknown {
  const all: Record<string, unknown> = { ...fieldsOf(one) }
  for (const [key, value] of Object.entries(fieldsOf(other))) all[key] = key in all ? joined(all[key], value) : value
  return all
}
