import type { Command, Option } from 'commander'
import type { Page } from '../../client-model/index.ts'
import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
import { gql } from '../../documents/gql.ts'
import type { TypedDocument } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { addList, eachPage, type List, type ListOptions } from '../list.ts'
import { ALL_PROJECTS, LABELS, type LabelArgument, OF_PROJECT, option, parsePhases } from '../options.ts'
import type { Session } from '../session.ts'

/** The options by which each list of objects is narrowed; all must match. */
export interface ObjectOptions extends ListOptions {
  readonly project?: string
  readonly kind?: readonly ObjectKind[]
  readonly phase?: readonly Phase[]
  readonly label?: readonly LabelArgument[]
}
const OPTIONS = [...[OF_PROJECT, ALL_PROJECTS, LABELS], option('--phase <phases>', 'only in these phases', parsePhases)]

/** The fields of `ObjectFilter` that these options stand for. */
export const filterOf = ({ project, kind, phase, label }: Omit<ObjectOptions, 'limit'>) => ({
  ...{ project: project ?? null, kinds: kind ?? null, phases: phase ?? null, labels: label ?? null },
})

interface ObjectsAnswer<Node> {
  readonly objects: Page<Node> | null
}
/** The members of a union that have all fields: a query that selects one kind gets no others. */
type OfKind<Node> = Node extends unknown ? ([AbsentIn<Node>] extends [never] ? Node : never) : never
export const pageOfKind = <Node>(page: Page<Node> | null | undefined): Page<OfKind<Node>> | null =>
  (page ?? null) as Page<OfKind<Node>> | null
type AbsentIn<Node> = { [Key in keyof Node]-?: [Node[Key]] extends [undefined] ? Key : never }[keyof Node]

/** A query with `objects(filter: $filter, first: $first, after: $after)`. */
export type ObjectDocument<Node, Filter = object> = TypedDocument<
  ObjectsAnswer<Node>,
  { readonly filter?: Filter; readonly first: number; readonly after?: string | null | undefined }
>

interface ObjectList<Node, Options, Filter>
  extends Pick<List<ObjectsAnswer<Node>, never, OfKind<Node>, Options>, 'key' | 'columns'> {
  readonly kind: ObjectKind
  readonly document: ObjectDocument<Node, Filter>
  /** More options, and the fields of `ObjectFilter` that they stand for. */
  readonly options?: readonly Option[]
  filter?(options: Options): NoInfer<Filter>
  readonly none?: string
  readonly automatic?: boolean
}

/** Makes a command one that lists the objects of a kind. */
export const addObjectList = <Node, Filter, Options extends ObjectOptions = ObjectOptions>(
  command: Command,
  cli: Cli,
  { kind, options = [], filter, none = 'Nothing matches.', ...list }: ObjectList<Node, Options, Filter>,
): Command =>
  addList(command, cli, {
    ...{ ...list, none, options: [...OPTIONS, ...options] },
    select: (given: Options) => ({ filter: { ...filterOf(given), kinds: [kind], ...filter?.(given) } as Filter }),
    page: ({ objects }) => pageOfKind(objects),
  })

/** The fields of an object in a list of all kinds. */
export const LISTED = `id kind name path phase phaseClass phaseSince revision finished
  project { name } error { code message } pendingRequests { verb }`

const ROOTS = gql(`query ListRoots($filter: ObjectFilter!, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { id name } }
  }
}`)

/** The roots of a kind in a project, page by page; with labels, those that have them all. */
export const eachRoot = (session: Session, kind: ObjectKind, project: string, labels: readonly LabelArgument[]) =>
  eachPage(
    session,
    { document: ROOTS, page: ({ objects }) => objects },
    { filter: { project, labels, kinds: [kind], rootsOnly: true } },
  )
