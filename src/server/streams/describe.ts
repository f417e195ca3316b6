import { Kind, type ValidatedSubscriptionArgs } from 'graphql'
import type { OpenStream } from '../../graphql/log/open-streams.ts'
import type { Asked } from './sharing.ts'

/** What a subscription is called when one looks at it. */
export function describe(
  { viewer, operationName }: Asked,
  { operation }: ValidatedSubscriptionArgs,
): Pick<OpenStream, 'operation' | 'field' | 'viewer'> {
  const [root] = operation.selectionSet.selections
  return {
    operation: operationName ?? operation.name?.value ?? null,
    field: root?.kind === Kind.FIELD ? root.name.value : '',
    viewer: viewer.name,
  }
}
