/** Packages of bench/package.json, which `npm ci` at the top does not install, as far as files outside of peers/ reach them. */
declare module 'ioredis'
declare module 'mqemitter-redis'
