/** `begins`: a process may exist whose group is not known yet. `begun`: its group is known, or there is none. */
export type CallState = 'begins' | 'begun'
/** Marks the process of a call, so that the guard finds it when this process is killed before it has passed on the group. */
export const CALL = 'PHASELINE_CALL'
