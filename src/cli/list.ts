import type { Command, Option } from 'commander'
import { notFoundRefusal, PAGE, type Page, type PagedList, readOn, readPages } from '../client-model/index.ts'
import type { TypedDocument } from '../documents/typed-document.ts'
import type { Cli } from './cli.ts'
import { checkProject, checkWords } from './objects/check-words.ts'
import { noteStandings } from './objects/note-standings.ts'
import { parseCount } from './options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from './session.ts'
import { EXIT, type ExitCode } from './terminal/exit.ts'
import type { Columns } from './terminal/table.ts'

/** Lists of the command line are data. This file reads, prints and limits all of them; the server alone selects what is listed. */

interface PageVariables {
  readonly first: number
  readonly after?: string | null | undefined
}
/** The variables of a document without those of its pages. */
type Selection<Variables> = Omit<Variables, keyof PageVariables>

interface Pages<Answer, Variables extends PageVariables, Node> {
  readonly document: TypedDocument<Answer, Variables>
  /** The page in an answer; null: there is no such list. */
  page(answer: Answer): Page<Node> | null | undefined
}

/** Reads a list until it ends or `limit` nodes are read; null: there is no such list. */
export const readList = <Answer, Variables extends PageVariables, Node>(
  { client, io }: Session,
  { document, page }: Pages<Answer, Variables, Node>,
  selection: NoInfer<Selection<Variables>>,
  limit: number,
): Promise<PagedList<Node> | null> =>
  readPages(limit, async (first, after) => {
    const paged = document as TypedDocument<Answer, PageVariables>
    return page(await client.query(paged, { ...selection, first, after }, { signal: io.signal })) ?? null
  })

/** Reads a list page by page, and keeps none. */
export const eachPage = <Answer, Variables extends PageVariables, Node>(
  { client, io }: Session,
  { document, page }: Pages<Answer, Variables, Node>,
  selection: NoInfer<Selection<Variables>>,
): AsyncGenerator<readonly Node[]> =>
  readOn(null, async (after) => {
    const paged = document as TypedDocument<Answer, PageVariables>
    return page(await client.query(paged, { ...selection, first: PAGE, after }, { signal: io.signal })) ?? null
  })

/** The most nodes that a command reads which has no limit. */
const MOST_NODES = 100_000
/** The nodes of a list; none if there is no such list. */
export const readNodes = async <Answer, Variables extends PageVariables, Node>(
  session: Session,
  pages: Pages<Answer, Variables, Node>,
  selection: NoInfer<Selection<Variables>>,
  limit = MOST_NODES,
): Promise<readonly Node[]> => (await readList(session, pages, selection, limit))?.nodes ?? []

export interface ListOptions extends SessionOptions {
  readonly limit: number
}
type Text<Options> = string | ((options: Options, argument: string) => string)

/** A list: what the server is asked, and what is shown of each node. */
export interface List<Answer, Variables extends PageVariables, Node, Options> extends Pages<Answer, Variables, Node> {
  select?(options: Options, argument: string): NoInfer<Selection<Variables>>
  /** The key of the nodes in JSON. Their total stands before them if the document asks for it. */
  readonly key: string
  /** Stands before that in JSON. */
  scope?(options: Options): object
  readonly columns: Columns<Node>
  /** Said where nothing is listed. */
  readonly none: Text<Options>
  /** Said where there is no such list. */
  readonly missing?: Text<Options>
}

/**
 * Prints a list in the requested form.
 * @param printed continues with its nodes
 */
export async function printList<
  Answer,
  Variables extends PageVariables,
  Node,
  Options extends Pick<ListOptions, 'limit'> & { readonly project?: string },
>(
  session: Session,
  {
    key,
    scope,
    select,
    columns,
    none,
    missing = 'There is nothing to list.',
    ...pages
  }: List<Answer, Variables, Node, Options>,
  options: NoInfer<Options>,
  argument = '',
  printed: (nodes: readonly Node[]) => Promise<ExitCode> = async () => EXIT.ok,
): Promise<ExitCode> {
  const say = (text: Text<Options>): string => (typeof text === 'string' ? text : text(options, argument))
  const selection = (select?.(options, argument) ?? {}) as Selection<Variables>
  const listed = await readList(session, pages, selection, options.limit)
  if (!listed) return session.refuse(notFoundRefusal(say(missing)))
  const { totalCount, nodes } = listed
  const absent = nodes.length === 0 ? await checkProject(session, options.project) : null
  if (absent) return session.refuse(absent)
  session.emit({ ...scope?.(options), ...(totalCount !== null && { totalCount }), [key]: nodes })
  session.list({ columns, nodes, none: say(none), listed })
  return await printed(nodes)
}

interface ListCommand<Options> {
  /** The command's own options, each of which `select` hands to the server. */
  readonly options?: readonly Option[]
  /** The most nodes, unless `--limit` says otherwise: 50. */
  readonly limit?: number
  /** Answers instead of the list; null: it does not. */
  instead?(session: Session, options: Options, argument: string): Promise<ExitCode> | null
  /** True of what acts by itself: what holds it back is said, too. */
  readonly automatic?: boolean
}

/** Makes a command one that lists. */
export function addList<Answer, Variables extends PageVariables, Node, Options extends ListOptions = ListOptions>(
  command: Command,
  cli: Cli,
  {
    options = [],
    limit = 50,
    instead,
    automatic = false,
    ...list
  }: List<Answer, Variables, Node, Options> & ListCommand<Options>,
): Command {
  for (const option of options) command.addOption(option)
  command.option('--limit <count>', 'list at most this many', parseCount, limit)
  return withSessionOptions(command).action(async (...given: readonly unknown[]) => {
    const [argument, chosen] = (command.registeredArguments.length > 0 ? given : ['', ...given]) as [
      string,
      Options & Words,
    ]
    cli.exitCode = await withSession(cli.io, chosen, async (session) => {
      const { kind, phase } = chosen
      const wrong = await checkWords(session, { kinds: kind, phases: phase })
      if (wrong) return session.refuse(wrong)
      return await (instead?.(session, chosen, argument) ??
        printList(session, list, chosen, argument, async () => {
          if (automatic) await noteStandings(cli, session, chosen.project)
          return EXIT.ok
        }))
    })
  })
}
interface Words {
  readonly project?: string
  readonly kind?: readonly string[]
  readonly phase?: readonly string[]
}
