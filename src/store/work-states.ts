import { HELD_ACTIONS } from '../core/work.ts'

/**
 * Conditions on the state of work for statements that find it by another column. A plan that is made while nothing is
 * offered or claimed assumes that the index of such work is empty, and would scan all of it for each row later. So the
 * conditions are written in a form that the planner does not match with such an index.
 */

/** Not done, for statements that find it by the root of its tree: `work_root_idx` has this very condition. */
export const IS_OPEN = 'state + 0 < 2'
/** Claimed, for statements that find it by its object or its root. */
export const IS_CLAIMED = 'state::integer = 1'

/** Work that its tree holds back, if that is paused: `isHeld` is the same rule. */
export const IS_HELD = (work: string): string =>
  `(${work}.state::integer = 0 and case ${work}.action when 'START' then ${work}.picked_up_at is null
    else ${work}.action in (${HELD_ACTIONS.map((action) => `'${action}'`).join(', ')}) end)`
/** Not held, whether or not its tree is paused. Hardly any tree is, so the table is asked first. */
export const IS_FREE_TO_GO = (work: string): string =>
  `(not exists (select from root_pause p where p.root_id = ${work}.root_id offset 0) or not ${IS_HELD(work)})`
