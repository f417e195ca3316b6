import type { Viewer } from '../core/ports/viewer.ts'
import type { Grant } from '../core/rights.ts'
import { grantsOf } from '../graphql/auth/tokens.ts'
import type { Client } from '../store/client.ts'
import { loadPrincipals } from '../store/principals.ts'

/** Schedules and the like have the rights of their last editors, each in its project, as they are when it acts. */

export interface Editor {
  readonly principalId: string
  readonly name: string
  /** The rights at the edit, for those whose rights come from an issuer. */
  readonly grants: readonly Grant[]
}

export const editorOf = ({ principalId, name, grants }: Viewer): Editor => ({ principalId, name, grants })

export interface Edited {
  readonly editor: Editor | null
  readonly projectId: string
}

/** The rights of the editors, each in its project; none of a principal that is gone. One for each, in order. */
export async function grantsOfEditors(
  client: Client,
  edited: readonly Edited[],
): Promise<readonly (readonly Grant[])[]> {
  const ids = [...new Set(edited.flatMap(({ editor }) => editor?.principalId ?? []))]
  const found = new Map((await loadPrincipals(client, ids, null)).map((principal) => [principal.id, principal]))
  return edited.map(({ editor, projectId: own }) => {
    const principal = editor && found.get(editor.principalId)
    const grants = !principal ? [] : principal.identity ? editor.grants : grantsOf(principal)
    return grants.flatMap(({ role, projectId }) =>
      projectId === null || projectId === own ? [{ role, projectId }] : [],
    )
  })
}

/** The viewer that a schedule and the like act as, e.g. `schedule:shop/nightly`. */
export const viewerOnBehalf = (
  what: string,
  { id, name, projectId, projectName }: Record<'id' | 'name' | 'projectId' | 'projectName', string>,
  grants: readonly Grant[],
  alsoWrite?: Viewer['alsoWrite'],
): Viewer => ({
  principalId: id,
  tokenId: id,
  name: `${what}:${projectName}/${name}`,
  actor: 'USER',
  grants,
  projects: [projectId],
  types: [],
  targets: [],
  ...(alsoWrite && { alsoWrite }),
})
