/** Whose account: null is the person's own; an id names an organization, whose sandbox it is. */
export type AccountId = string | null;

/** The header by which a call is about this account. */
export function ofAccount(id: AccountId): { headers?: { 'X-Service-Org': string } } {
  return id === null ? {} : { headers: { 'X-Service-Org': id } };
}
