/** Tests that need more than Node and Postgres; a script of `.ci/` names in PHASELINE_TEST_REQUIRE what it has provided. */
type Needs = 'container-engine' | 'go' | 'kubernetes' | 'helm' | 'high-availability' | 'network'

/** Says which tests are left out, and why. Throws where they must not be. */
export function leaveOut(what: Needs, why: string): void {
  const required = (process.env.PHASELINE_TEST_REQUIRE ?? '').split(',')
  if (required.includes(what)) throw new Error(`PHASELINE_TEST_REQUIRE names ${what}, but ${why}`)
  console.warn(`Tests of ${what} are left out: ${why}`)
}
