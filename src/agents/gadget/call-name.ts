/** `begins`: a process may be there that nobody was told of. `begun`: its group was told, or there is none. */
export type CallState = 'begins' | 'begun'
/** The variable by which the process of a call is found when this one is killed before it could tell of it. */
export const CALL = 'PHASELINE_CALL'
