import { MANIFEST_FRAGMENT } from '../../client-model/index.ts'
import { type FragmentOf, gql } from '../../documents/gql.ts'
import { type Manifest, manifestSchema, writtenDocument } from '../../manifest/index.ts'
import { addressIn } from '../objects/address.ts'
import { eachRoot } from '../objects/object-list.ts'
import { since } from '../terminal/text.ts'
import { type Appliable, ORDER, type Placed } from './appliable.ts'
import { applyManifest, type Overwritten, type PlacedManifest } from './apply-manifest.ts'
import { withSources } from './kubernetes-sources.ts'
import { diffManifest, planManifest } from './plan-manifest.ts'

const READ = gql(`query ReadInstallations($ids: [ID!]!) { nodes(ids: $ids) { ...Manifest } }\n${MANIFEST_FRAGMENT}`)
type Shown = FragmentOf<typeof MANIFEST_FRAGMENT>

const placed = ({ document, project }: Placed<Manifest>): PlacedManifest => ({ ...document, project })

/** e.g. `shop: this replaces what anna has changed since 2026-… (10m 04s ago). To see that: phaseline diff shop --since …`. */
function describeOverwritten(address: string, { by, since: from, until }: Overwritten): string {
  // The spec before the first change is that of the moment before.
  const before = new Date(Date.parse(from) - 1).toISOString()
  return `${address}: this replaces what ${by.join(', ')} has changed since ${from} (${since(from)} ago). To see that: phaseline diff ${address} --since ${before} --until ${until}`
}

/** Root installations. */
export const installations: Appliable<Manifest, Manifest, Shown> = {
  ...{ kind: 'Installation', order: ORDER.tree, objectKind: 'INSTALLATION', schema: manifestSchema },
  label: ({ project, name }) => `${project}/${name}`,
  async complete(manifest, surroundings) {
    const filled = surroundings.given?.giveTo(manifest) ?? { ok: true, value: manifest }
    return filled.ok ? await withSources(filled.value, surroundings) : filled
  },
  async apply(session, document, how) {
    const outcome = await applyManifest(session, placed(document), how)
    if (!outcome.ok) return outcome
    const { runsAgain, ...written } = outcome.value
    const { name, project, action, generation, id, overwritten } = written
    const line = `${addressIn(project, [name])} ${action} (generation ${generation})${runsAgain ? ', runs again' : ''}`
    const remark = overwritten && describeOverwritten(addressIn(project, [name]), overwritten)
    const all = { action, line, written: { kind: 'Installation', ...written }, rootId: id }
    return { ok: true, value: { ...all, ...(remark !== undefined && { remark }) } }
  },
  preview: (session, document, { isDiff, onTarget }) =>
    isDiff ? diffManifest(session, placed(document)) : planManifest(session, placed(document), onTarget),
  // One without a spec was deleted meanwhile. An empty spec would delete all that another one has.
  manifest: ({ project, spec, ...shown }) => ({
    ...writtenDocument({ ...shown, spec, project: project.name }),
    ...(!spec && { spec }),
  }),
  list: (session, project, labels) => eachRoot(session, 'INSTALLATION', project, labels),
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.name !== undefined && node.spec ? node : null))
  },
}
