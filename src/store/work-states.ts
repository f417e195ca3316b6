/**
 * Conditions on the state of work for statements that find it by another column. A plan made while nothing was offered or
 * claimed takes the index of such work for empty, and would scan all of it for each row once it is not. So the conditions
 * are written in a form that the planner does not match with such an index.
 */

/** Not done, for statements that find it by the root of its tree: `work_root_idx` has this very condition. */
export const IS_OPEN = 'state + 0 < 2'
/** Claimed, for statements that find it by its object or its root. */
export const IS_CLAIMED = 'state::integer = 1'
