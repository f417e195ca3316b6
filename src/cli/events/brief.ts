import { plain } from '../terminal/text.ts'

/** An event as far as it takes to name it. */
export interface BriefEvent {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly source: string
  readonly type: string
  readonly project: { readonly name: string }
}

export const BRIEF_EVENT = 'fragment BriefEvent on Event { id name phase source type project { name } }'

/** e.g. `web/event-17`, as commands take it. */
export const pathOf = ({ project, name }: Pick<BriefEvent, 'project' | 'name'>): string =>
  plain(`${project.name}/${name}`)
