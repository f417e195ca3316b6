/**
 * Conditions on the state of work for statements that find it by something else. A plan that was made while nothing was
 * offered or claimed takes an index of such work for empty, and would go through all of it for each row when it is not: so
 * these are said in a way that such an index is not known to serve.
 */

/** Not done, for those who find it by the root of its tree: `work_root_idx` is known by these very words. */
export const IS_OPEN = 'state + 0 < 2'
/** Claimed, for those who find it by its object or its root. */
export const IS_CLAIMED = 'state::integer = 1'
