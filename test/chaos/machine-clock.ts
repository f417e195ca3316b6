/** The clock that all processes of the machine share, also `/proc/uptime`, in milliseconds. */
export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000
