/**
 * The time that statements judge by is the database's own: all processes have it in common, whatever their clocks show. A
 * parameter takes its place where it is not null, as in tests. To the millisecond, as all times that processes write.
 */
const time = (parameter: string, own: string): string =>
  `date_trunc('milliseconds', coalesce(${parameter}::timestamptz, ${own}))`

/** The time when the row is read. */
export const timeNow = (parameter: string): string => time(parameter, 'clock_timestamp()')
/** As it was when the statement came: the same for all rows, so an index may be searched by it. */
export const statementTime = (parameter: string): string => time(parameter, 'statement_timestamp()')

/** So many milliseconds later. */
export const plusMs = (at: string, parameter: string): string =>
  `${at} + ${parameter}::float8 * interval '1 millisecond'`
