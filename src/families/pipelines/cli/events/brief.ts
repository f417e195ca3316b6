import type { FragmentOf } from '../../../../documents/gql.ts'

export const BRIEF_EVENT = 'fragment BriefEvent on Event { id name phase source type project { name } }'
/** The fields that name an event. */
export type BriefEvent = FragmentOf<typeof BRIEF_EVENT>

/** e.g. `web/event-17`, as commands take it. */
export const pathOf = ({ project, name }: Pick<BriefEvent, 'project' | 'name'>): string => `${project.name}/${name}`
