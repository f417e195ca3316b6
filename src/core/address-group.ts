/**
 * Groups addresses by client: an IPv4 address is one client; an IPv6 client has a /64 and may use all its 2^64
 * addresses.
 */
export function addressGroup(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%', 1)
  if (!bare.includes(':')) return bare
  const [head = '', tail] = bare.split('::')
  const groups = groupsOf(head)
  // `::` stands for as many zeros as are missing.
  if (tail !== undefined)
    groups.push(...Array<string>(Math.max(0, 8 - groups.length - groupsOf(tail).length)).fill('0'))
  if (tail !== undefined) groups.push(...groupsOf(tail))
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))
