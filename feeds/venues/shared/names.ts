/**
 * Venues' names of leagues and teams. A code or a name of one venue is the same team as another's
 * by these tables or by the words of the names, never by a place in a list. Rules K35 to K37
 * (feeds/FORMATS.md).
 */
import type { Team } from '../../../engine/rules/catalog-entries.ts';

/**
 * Names of leagues that are one league. Sources: Kalshi's series tickers (`GET /series`),
 * Polymarket's sport codes (`GET /sports` of Gamma, which slugs begin with).
 */
const LEAGUES: Record<string, string> = {
  // Colleges: NCAA by Kalshi, CFB and CBB by Polymarket.
  ...{ ncaaf: 'cfb', ncaafb: 'cfb', ncaamb: 'cbb', ncaab: 'cbb', ncaabb: 'cbb', ncaawb: 'cwbb' },
  uefanl: 'unl',
  ...{ lal: 'laliga', esp: 'laliga', laliga1: 'laliga', sea: 'seriea', ita: 'seriea' },
  ...{ bun: 'bundesliga', bl1: 'bundesliga', ger: 'bundesliga', bundesliga1: 'bundesliga' },
  ...{
    fl1: 'ligue1',
    fra: 'ligue1',
    lig1: 'ligue1',
    premierleague: 'epl',
    'premier-league': 'epl',
  },
  ...{ ere: 'eredivisie', ned: 'eredivisie', por: 'ligaportugal', tur: 'superlig' },
  ...{ bra: 'brasileiro', mex: 'ligamx', arg: 'argpremdiv', champions: 'ucl' },
  ...{
    uclgame: 'ucl',
    europa: 'uel',
    fifwc: 'wc',
    fwc: 'wc',
    menworldcup: 'wc',
    fif: 'intlfriendly',
  },
  // Games of esports.
  ...{ val: 'valorant', vct: 'valorant', csgo: 'cs2', counterstrike: 'cs2', dota: 'dota2' },
  leagueoflegends: 'lol',
};

/** The one name of a league. */
export function leagueNamed(name: string): string {
  return LEAGUES[name] ?? name;
}

/** Their fixtures, slugs and titles name the home team first. */
const SOCCER = new Set([
  ...['epl', 'laliga', 'laliga2', 'seriea', 'serieb', 'bundesliga', 'bundesliga2', 'ligue1'],
  ...['ligue2', 'ucl', 'uel', 'uecl', 'uwcl', 'mls', 'nwsl', 'eredivisie', 'ligaportugal'],
  ...['superlig', 'brasileiro', 'brasileirao', 'argpremdiv', 'ligamx', 'wc', 'wcq', 'unl', 'euro'],
  ...['intlfriendly', 'copaamerica', 'afcon', 'facup', 'eflcup', 'eflchampionship', 'eflleagueone'],
  ...['copadelrey', 'dfbpokal', 'coppaitalia', 'coupedefrance', 'saudipl', 'jleague', 'kleague'],
  ...['aleague', 'scottishprem', 'belgianpl', 'swissleague', 'copalibertadores', 'libertadores'],
  ...['copasudamericana', 'clubworldcup', 'leaguescup', 'usl', 'superliga', 'ekstraklasa'],
]);

export function isHomeFirst(league: string): boolean {
  return SOCCER.has(league);
}

/** Leagues of national teams, whose codes are of FIFA and the IOC, or of ISO 3166. */
const NATIONS = new Set([
  ...['wc', 'wcq', 'unl', 'euro', 'intlfriendly', 'copaamerica', 'afcon', 'olympics', 'wbc'],
  ...['iihf', 'fiba', 'eurobasket', 'daviscup', 'bjkcup', 'gold-cup', 'goldcup', 't20wc'],
]);

/** ISO 3166-1 alpha-3 by the code of FIFA or the IOC, where they differ. */
const COUNTRIES: Record<string, string> = pairs(
  'SUI CHE NED NLD GER DEU POR PRT CRO HRV DEN DNK GRE GRC URU URY PAR PRY CHI CHL KSA SAU ' +
    'RSA ZAF IRI IRN ALG DZA CRC CRI HON HND GUA GTM PHI PHL BUL BGR SLO SVN LAT LVA NIG NER ' +
    'NGA NGA PUR PRI TRI TTO HAI HTI ESA SLV NCA NIC MAS MYS INA IDN VIE VNM UAE ARE KUW KWT ' +
    'OMA OMN BRN BHR LIB LBN SUD SDN TAN TZA ZAM ZMB ZIM ZWE ANG AGO BOT BWA CGO COG CHA TCD ' +
    'GAM GMB GUI GIN EQG GNQ GEQ GNQ LBA LBY MAD MDG MRI MUS TOG TGO BUR BFA BER BMU BAR BRB ' +
    'ENG GBR TPE TWN MGL MNG KOS XKX FRO FRO',
);

/**
 * Teams of the leagues of North America: codes of one team, then its place and its name. Sources:
 * the leagues' own sites; tickers of Kalshi; slugs of Polymarket and Polymarket US.
 */
const ROSTERS: Record<string, string> = {
  nfl:
    'ARI,AZ Arizona Cardinals|ATL Atlanta Falcons|BAL Baltimore Ravens|BUF Buffalo Bills|' +
    'CAR Carolina Panthers|CHI Chicago Bears|CIN Cincinnati Bengals|CLE Cleveland Browns|' +
    'DAL Dallas Cowboys|DEN Denver Broncos|DET Detroit Lions|GB,GNB Green Bay Packers|' +
    'HOU Houston Texans|IND Indianapolis Colts|JAX,JAC Jacksonville Jaguars|' +
    'KC,KAN Kansas City Chiefs|LAC Los Angeles Chargers|LAR,LA Los Angeles Rams|' +
    'LV,LVR Las Vegas Raiders|MIA Miami Dolphins|MIN Minnesota Vikings|' +
    'NE,NWE New England Patriots|NO,NOR New Orleans Saints|NYG New York Giants|' +
    'NYJ New York Jets|PHI Philadelphia Eagles|PIT Pittsburgh Steelers|SEA Seattle Seahawks|' +
    'SF,SFO San Francisco 49ers|TB,TAM Tampa Bay Buccaneers|TEN Tennessee Titans|' +
    'WAS,WSH Washington Commanders',
  nba:
    'ATL Atlanta Hawks|BOS Boston Celtics|BKN,BK,BRK Brooklyn Nets|CHA,CHO Charlotte Hornets|' +
    'CHI Chicago Bulls|CLE Cleveland Cavaliers|DAL Dallas Mavericks|DEN Denver Nuggets|' +
    'DET Detroit Pistons|GSW,GS Golden State Warriors|HOU Houston Rockets|IND Indiana Pacers|' +
    'LAC Los Angeles Clippers|LAL Los Angeles Lakers|MEM Memphis Grizzlies|MIA Miami Heat|' +
    'MIL Milwaukee Bucks|MIN Minnesota Timberwolves|NOP,NO New Orleans Pelicans|' +
    'NYK,NY New York Knicks|OKC Oklahoma City Thunder|ORL Orlando Magic|' +
    'PHI Philadelphia 76ers|PHX,PHO Phoenix Suns|POR Portland Trail Blazers|' +
    'SAC Sacramento Kings|SAS,SA San Antonio Spurs|TOR Toronto Raptors|UTA,UTAH Utah Jazz|' +
    'WAS,WSH Washington Wizards',
  wnba:
    'ATL Atlanta Dream|CHI Chicago Sky|CON,CONN Connecticut Sun|DAL Dallas Wings|' +
    'GSV,GS,GSW Golden State Valkyries|IND Indiana Fever|LVA,LV Las Vegas Aces|' +
    'LAS,LA Los Angeles Sparks|MIN Minnesota Lynx|NYL,NY New York Liberty|' +
    'PHX,PHO Phoenix Mercury|POR Portland Fire|SEA Seattle Storm|TOR Toronto Tempo|' +
    'WAS,WSH Washington Mystics',
  mlb:
    'ARI,AZ Arizona Diamondbacks|ATL Atlanta Braves|BAL Baltimore Orioles|BOS Boston Red Sox|' +
    'CHC Chicago Cubs|CWS,CHW Chicago White Sox|CIN Cincinnati Reds|CLE Cleveland Guardians|' +
    'COL Colorado Rockies|DET Detroit Tigers|HOU Houston Astros|KC,KCR,KAN Kansas City Royals|' +
    'LAA,ANA Los Angeles Angels|LAD Los Angeles Dodgers|MIA Miami Marlins|' +
    'MIL Milwaukee Brewers|MIN Minnesota Twins|NYM New York Mets|NYY New York Yankees|' +
    'ATH,OAK Athletics|PHI Philadelphia Phillies|PIT Pittsburgh Pirates|SD,SDP San Diego Padres|' +
    'SF,SFG San Francisco Giants|SEA Seattle Mariners|STL St. Louis Cardinals|' +
    'TB,TBR Tampa Bay Rays|TEX Texas Rangers|TOR Toronto Blue Jays|' +
    'WSH,WAS,WSN Washington Nationals',
  nhl:
    'ANA Anaheim Ducks|BOS Boston Bruins|BUF Buffalo Sabres|CGY,CAL Calgary Flames|' +
    'CAR Carolina Hurricanes|CHI Chicago Blackhawks|COL Colorado Avalanche|' +
    'CBJ,CLB Columbus Blue Jackets|DAL Dallas Stars|DET Detroit Red Wings|EDM Edmonton Oilers|' +
    'FLA Florida Panthers|LAK,LA Los Angeles Kings|MIN Minnesota Wild|' +
    'MTL,MON Montreal Canadiens|NSH,NAS Nashville Predators|NJD,NJ New Jersey Devils|' +
    'NYI New York Islanders|NYR New York Rangers|OTT Ottawa Senators|PHI Philadelphia Flyers|' +
    'PIT Pittsburgh Penguins|SJS,SJ San Jose Sharks|SEA Seattle Kraken|STL St. Louis Blues|' +
    'TBL,TB Tampa Bay Lightning|TOR Toronto Maple Leafs|UTA,UTAH Utah Mammoth|' +
    'VAN Vancouver Canucks|VGK,VEG,LV,LAS Vegas Golden Knights|WPG,WIN Winnipeg Jets|' +
    'WSH,WAS Washington Capitals',
  // Codes that do not follow from the name.
  cfb:
    'UGA Georgia|BAMA,ALA Alabama|OSU,OHST Ohio State|TAMU,TXAM Texas A&M|USC Southern California|' +
    'UNC North Carolina|ND Notre Dame|PSU,PENNST Penn State|MSST,MSU Mississippi State|' +
    'MICH Michigan|OKLA,OU Oklahoma|TENN Tennessee|CLEM Clemson|MISS Ole Miss|UK Kentucky',
  cbb:
    'UNC North Carolina|UK Kentucky|UCONN,CONN Connecticut|KU Kansas|ND Notre Dame|UVA Virginia|' +
    'BAMA,ALA Alabama|TAMU,TXAM Texas A&M|PUR Purdue|ZAGA,GONZ Gonzaga',
  laliga: 'BAR,FCB Barcelona|RMA,MAD Real Madrid|ATM,ATL,ATLM Atletico Madrid|ATH Athletic Bilbao',
  seriea: 'INT,INTER Inter Milan|ACM,MIL Milan|JUV Juventus|NAP Napoli|ROM Roma|LAZ Lazio',
  bundesliga: 'BMU,BAY,FCB Bayern Munich|BVB,DOR Borussia Dortmund|LEV,B04 Bayer Leverkusen',
  ligue1: 'PSG Paris Saint-Germain|OM,MAR Marseille|OL,LYO Lyon|ASM,MON Monaco',
};

// The same colleges.
ROSTERS.cwbb = ROSTERS.cbb!;

type Known = { code: string; name: string };
const KNOWN = new Map<string, Known>();
for (const [league, roster] of Object.entries(ROSTERS)) {
  for (const row of roster.split('|')) {
    const [codes, ...words] = row.split(' ');
    const [code, ...others] = codes!.split(',');
    const team = { code: code!, name: words.join(' ') };
    for (const one of [code, ...others]) KNOWN.set(`${league} ${one}`, team);
  }
}
const SPORTS = new Set([
  ...Object.keys(ROSTERS),
  ...SOCCER,
  ...NATIONS,
  ...['atp', 'wta', 'ufc', 'cs2', 'lol', 'dota2', 'valorant', 'cwbb', 'ipl', 'npb', 'kbo'],
]);

/** Leagues that are known by this name: two of them are never one. */
export function isKnownLeague(league: string): boolean {
  return SPORTS.has(league);
}

/** The league that a name begins with, as `mlb` in `mlbtotal`, and the remaining text. */
export function leagueBefore(name: string): { league: string; rest: string } | null {
  for (let length = name.length - 1; length >= 2; length--) {
    const own = name.slice(0, length);
    // Shorter names of other venues begin many a word.
    const league = length < 4 ? own : leagueNamed(own);
    if (SPORTS.has(league)) return { league, rest: name.slice(length) };
  }
  return null;
}

/** The team that a league's table has by a code. */
export function knownTeam(league: string, code: string): Team | null {
  const known = KNOWN.get(`${league} ${code.toUpperCase()}`);
  return known === undefined ? null : { code: code.toUpperCase(), name: known.name };
}

/** One spelling of a team's code, from any venue. */
export function codeNamed(league: string, code: string): string {
  const upper = code.toUpperCase();
  if (NATIONS.has(league)) return COUNTRIES[upper] ?? upper;
  return KNOWN.get(`${league} ${upper}`)?.code ?? upper;
}

const FILLERS = new Set('fc cf afc sc ac cd ud club the de esports gaming team'.split(' '));

/** `Atlético Madrid FC` as `atletico madrid`, in words. */
export function wordsOf(name: string): string[] {
  const words = allWordsOf(name);
  const telling = words.filter((word) => !FILLERS.has(word));
  return telling.length === 0 ? words : telling;
}

function allWordsOf(name: string): string[] {
  const plain = name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/**
 * Whether each word of the shorter name begins a word of the longer one, in order, or both have the
 * same words: a person's own name may be first or last.
 */
export function isSameName(a: string, b: string): boolean {
  const [short, long] = [wordsOf(a), wordsOf(b)].sort((x, y) => x.length - y.length);
  if (short!.length === 0) return false;
  if (short!.toSorted().join(' ') === long!.toSorted().join(' ')) return true;
  let at = 0;
  for (const word of short!) {
    while (at < long!.length && !isBegun(word, long![at]!)) at++;
    if (at === long!.length) return false;
    at++;
  }
  return true;
}

const isBegun = (a: string, b: string) => a.startsWith(b) || b.startsWith(a);

/** Whether both are one team: by code, or by names that say more than a code. */
export function isSameTeam(league: string, a: Team, b: Team): boolean {
  if (codeNamed(league, a.code) === codeNamed(league, b.code)) return true;
  // A code of three letters tells too little; GAUFF is still a name.
  const isNamed = ({ code, name }: Team) => {
    return name.toUpperCase() !== code.toUpperCase() || code.length > 3;
  };
  return isNamed(a) && isNamed(b) && isSameName(a.name, b.name);
}

/** How well a name fits a code: 0 not at all, 4 by a table or the venue's own word. */
function fitOf(league: string, code: string, name: string, told: string | null): number {
  const upper = code.toUpperCase();
  if (name.toUpperCase() === upper) return 4;
  const known = told ?? knownTeam(league, upper)?.name ?? null;
  if (known !== null) return isSameName(known, name) ? 4 : 0;
  const letters = upper.toLowerCase();
  const fit = fitOfLetters(letters, name);
  if (fit > 0) return fit;
  // `ts8` is the eighth code of its kind.
  const plain = letters.replace(/\d+$/, '');
  const isNumbered = plain !== letters && plain.length >= LETTERS_MIN;
  return isNumbered && fitOfLetters(plain, name) > 0 ? 1 : 0;
}

/** Of a code without its number. */
const LETTERS_MIN = 2;
/** A shorter word begins many a code: `LA` is not the word of LAFC. */
const WORD_MIN = 3;

function fitOfLetters(letters: string, name: string): number {
  const isBegunBy = (word: string) => word.length >= WORD_MIN && letters.startsWith(word);
  if (wordsOf(name).some((word) => word.startsWith(letters) || isBegunBy(word))) return 3;
  // Some codes have the words that say little, as DEMINAUR.
  const ways = [wordsOf(name), allWordsOf(name)];
  if (ways.some((words) => isOfBeginnings(letters, words))) return 2;
  return ways.some((words) => isWithin(letters, words.join(''))) ? 1 : 0;
}

/** `nyy` of New York Yankees: each part of the code begins a word. */
function isOfBeginnings(letters: string, words: readonly string[]): boolean {
  if (letters === '') return true;
  const [word, ...more] = words;
  if (word === undefined) return false;
  for (let length = Math.min(word.length, letters.length); length > 0; length--) {
    if (word.startsWith(letters.slice(0, length)) && isOfBeginnings(letters.slice(length), more)) {
      return true;
    }
  }
  return isOfBeginnings(letters, more);
}

/** The first letter first, the others in order. */
function isWithin(letters: string, text: string): boolean {
  if (text.includes(letters)) return true;
  if (text[0] !== letters[0]) return false;
  let at = 0;
  for (const letter of text) if (letter === letters[at]) at++;
  return at === letters.length;
}

type Pair = readonly [string, string];

/**
 * The owners of these names. `straight`: the first name is the first code's; `crossed`: the
 * second's. Null: they do not fit, or fit both ways.
 *
 * @param told names that the venue itself gives the codes
 */
export function namesOfCodes(
  league: string,
  codes: Pair,
  names: Pair,
  told: readonly [string | null, string | null] = [null, null],
): 'straight' | 'crossed' | null {
  const fits = (code: 0 | 1, name: 0 | 1) => fitOf(league, codes[code], names[name], told[code]);
  const straight = together(fits(0, 0), fits(1, 1));
  const crossed = together(fits(0, 1), fits(1, 0));
  if (straight === crossed) return null;
  return straight > crossed ? 'straight' : 'crossed';
}

const together = (a: number, b: number) => (a > 0 && b > 0 ? a + b : 0);

/** Two codes that are written as one, as `CWSDET`: the only way to part them into known teams. */
export function partedCodes(league: string, codes: string): Pair | null {
  const ways: Pair[] = [];
  for (let at = 1; at < codes.length; at++) {
    const pair: Pair = [codes.slice(0, at), codes.slice(at)];
    if (pair.every((code) => knownTeam(league, code) !== null)) ways.push(pair);
  }
  return ways.length === 1 ? ways[0]! : null;
}

/** The same where no table knows them: by the names of a title, which fit one way alone. */
export function partedByNames(league: string, codes: string, names: Pair): Pair | null {
  let best: { pair: Pair; score: number } | null = null;
  let isOnly = true;
  for (let at = 1; at < codes.length; at++) {
    const pair: Pair = [codes.slice(0, at), codes.slice(at)];
    const score = [names, [names[1], names[0]] as const].map(([a, b]) => {
      return together(fitOf(league, pair[0], a, null), fitOf(league, pair[1], b, null));
    });
    const most = Math.max(...score);
    if (most === 0 || (best !== null && most < best.score)) continue;
    isOnly = best === null || most > best.score;
    best = { pair, score: most };
  }
  return best === null || !isOnly ? null : best.pair;
}

function pairs(text: string): Record<string, string> {
  const words = text.split(' ');
  const table: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 2) table[words[at]!] = words[at + 1]!;
  return table;
}
