export { replaceHidden } from '../core/hidden-text.ts'
export { PHASE_CLASSES, type PhaseClass } from '../core/machine.ts'
export { words } from '../core/words.ts'
export {
  CREATION,
  type Creation,
  type DifferenceKind,
  describeCreation,
  describeHealth,
  describeObjectChange,
  describeRun,
  describeTreeChange,
  diffLines,
  markOfDifference,
  type ShownCause,
  type ShownDiff,
  subjectOfCause,
  titleOfCause,
} from './answers.ts'
export { AUTOMATIC_FRAGMENT, idleWords, retryOf, type ShownAutomatic } from './automatic-reconcile.ts'
export { blockerLabel, blockerText, describeBlocker } from './describe-blocker.ts'
export { describeTargets, type TargetSelector } from './describe-targets.ts'
export { DRY_RUN_FRAGMENT, linesOfChange, readDryRun, type TargetChange, titleOfChange } from './dry-run.ts'
export { duration } from './duration.ts'
export { causeText, FAILURE_FIELDS, failureText, finalText } from './failures.ts'
export { FORECAST_FRAGMENT, forecastText, type ShownForecast } from './forecast.ts'
export { type Group, grouped } from './grouped.ts'
export { holdsOf } from './holds-of.ts'
export { type Machine, Machines, undoneFailures } from './machines.ts'
export { MANIFEST_FRAGMENT } from './manifest-fragment.ts'
export { afterChange, matchesFilter, type ObjectSelection, placeOf } from './object-filter.ts'
export {
  countFurther,
  type Further,
  nextCursor,
  nodesOf,
  PAGE,
  type Page,
  type PagedList,
  previousCursor,
  readBack,
  readOn,
  readPages,
} from './pages.ts'
export { PAST_TIME_EXAMPLES, parsePastTime } from './past-time.ts'
export { CLASS_LABELS, CLASS_SYMBOLS, type ClassCounts, countClasses } from './phases.ts'
export {
  type FieldProblem,
  invalid,
  notFoundRefusal,
  type Outcome,
  outcomeOf,
  REFUSAL_FRAGMENT,
  type Refusal,
  type ResultMember,
  refused,
  type SuccessMember,
} from './refusal.ts'
export { shownBlockers } from './shown-blockers.ts'
export { sizeOf } from './sizes.ts'
export { isOrdinary, stuckAmong, stuckOf, type Waiting } from './stuck.ts'
export { splitTimes, tellTimes, withoutTimes } from './times.ts'
