/** The fields of an installation that its manifest has; `writeManifest` of `manifest/` takes their values. */
export const MANIFEST_FRAGMENT = `fragment Manifest on Installation {
  name project { name } labels { key value } description ignored spec
}`
