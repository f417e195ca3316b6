import type { Cli } from '../cli.ts'
import type { Session } from '../session.ts'

/** Remarks on what stands still whatever was printed of it, such as automation that is held. */
export async function noteStandings({ standings }: Cli, session: Session, project?: string): Promise<void> {
  if (session.json) return
  const said = await Promise.all((await standings()).map((standing) => standing(session, project)))
  session.note(...said.flatMap(({ lines }) => lines))
}
