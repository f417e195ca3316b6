import { MANIFEST_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import { type Manifest, manifestSchema, writtenDocument } from '../../manifest/index.ts'
import { readNodes } from '../list.ts'
import { type Appliable, ORDER, type Placed } from './appliable.ts'
import { applyManifest, type PlacedManifest } from './apply-manifest.ts'
import { withSources } from './kubernetes-sources.ts'
import { diffManifest, planManifest } from './plan-manifest.ts'

const EXPORT = gql(`query ExportInstallations($filter: ObjectFilter!, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { id ...Manifest } }
  }
}\n${MANIFEST_FRAGMENT}`)

const placed = ({ document, project }: Placed<Manifest>): PlacedManifest => ({ ...document, project })

/** Root installations. */
export const installations: Appliable<Manifest, Manifest> = {
  ...{ kind: 'Installation', order: ORDER.tree, objectKind: 'INSTALLATION', schema: manifestSchema },
  label: ({ project, name }) => `${project}/${name}`,
  complete: withSources,
  async apply(session, document, how) {
    const outcome = await applyManifest(session, placed(document), how)
    if (!outcome.ok) return outcome
    const { name, action, generation, id } = outcome.value
    const again = action === 'unchanged' && how.reconcile && !how.ifDifferent ? ', runs again' : ''
    const line = `${name} ${action} (generation ${generation})${again}`
    return { ok: true, value: { action, line, written: { kind: 'Installation', ...outcome.value }, rootId: id } }
  },
  preview: (session, document, { isDiff, onTarget }) =>
    isDiff ? diffManifest(session, placed(document)) : planManifest(session, placed(document), onTarget),
  async export(session, project, labels) {
    const filter = { project, labels, kinds: ['INSTALLATION'] as const, rootsOnly: true }
    const nodes = await readNodes(session, { document: EXPORT, page: ({ objects }) => objects }, { filter })
    return nodes.flatMap((node) => (node.name === undefined ? [] : [writtenDocument({ ...node, project })]))
  },
}
