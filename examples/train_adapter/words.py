"""Word pools: what the generated texts are filled with. Every name in them is ordinary or invented."""

from __future__ import annotations

import random

FIRST_NAMES = tuple(
    """Amara Aiko Alejandro Amina Anders Anita Anouk Arjun Astrid Ayse Bao Beatriz Bjorn Brigid Bruno Callum
    Camila Chidi Chloe Dagmar Daniela Darius Deepa Dmitri Eamon Elif Elena Emeka Enzo Esther Fatima Felix Freya
    Gabriel Giulia Goran Greta Hamid Hana Harriet Hassan Helga Hiro Ibrahim Ilse Imran Ines Ingrid Isaac Ivana
    Jamal Jana Jasper Jelena Jin Joao Jun Kaito Kamala Karim Katya Keiko Kofi Kwame Laila Lars Leila Liam Lin
    Linnea Luca Lucia Magnus Malik Marek Margot Mateo Mei Mina Mohamed Nadia Naomi Nia Niels Nikhil Noor Olga
    Oluwaseun Omar Oskar Paloma Pavel Petra Priya Quentin Rafael Rania Ravi Renata Rosa Ruth Sana Sanjay Selma
    Siobhan Sofia Soren Sven Tamar Tariq Thandiwe Theo Tomas Ursula Uma Vera Viktor Wanjiru Wei Xenia Yara Yusuf
    Zainab Zofia Tom Kate Peter Emma Jack Grace Henry Alice Sam Julia Max Laura Ben Nora""".split()
)
LAST_NAMES = tuple(
    """Abara Abe Adeyemi Ahmed Almeida Andersen Asante Bakker Banerjee Barros Bauer Becker Bergstrom Bianchi
    Blomqvist Boateng Brennan Castillo Chatterjee Chen Cohen Costa Dahl Delgado Demir Dlamini Dubois Eriksen
    Farouk Fernandez Fischer Fitzgerald Fonseca Fujita Gallo Garcia Gomes Grant Gruber Gupta Haddad Hansen Hoang
    Horvat Hussain Ibarra Ito Jansen Jovanovic Kamara Kaminski Kapoor Kaya Keller Khan Kim Kovacs Kowalski Kumar
    Larsen Lefevre Li Lindqvist Lopez Mahlangu Marino Martins Mbeki Mendoza Meyer Mishra Molnar Moreau Mori
    Nakamura Ndlovu Nguyen Novak Nowak Nwosu Obi Okafor Okoye Oliveira Olsen Ortega Osei Ozturk Papadakis Park
    Patel Pereira Petrov Popescu Qureshi Rahman Ramirez Rao Reyes Ricci Romero Rossi Saito Salazar Santos Sato
    Schmidt Schneider Sharma Silva Singh Sokolov Sousa Suzuki Tanaka Torres Toth Tran Vargas Vasquez Virtanen
    Vogel Wagner Walsh Wang Weber Wong Yilmaz Zhang Zimmermann O'Neill Smith Baker Turner Hill Wood Cooper
    de la Cruz van Dijk""".replace("de la Cruz", "de_la_Cruz")
    .replace("van Dijk", "van_Dijk")
    .split()
)
CITIES = tuple(
    """Aarhus Accra Adelaide Agadir Almaty Antwerp Arequipa Athens Auckland Baku Bangalore Basel Bergen Bogota
    Boston Bratislava Brisbane Bristol Bruges Cairo Calgary Casablanca Chennai Chicago Cork Cusco Dakar Dallas
    Darwin Delhi Denver Dublin Durban Edinburgh Florence Fukuoka Gdansk Geneva Ghent Glasgow Graz Hamburg Hanoi
    Helsinki Hobart Istanbul Jaipur Kampala Kigali Kobe Krakow Lagos Leeds Leipzig Lima Lisbon Ljubljana Lyon
    Madrid Malmo Manila Marseille Melbourne Memphis Milan Montreal Mumbai Munich Nagoya Nairobi Naples Nice Oslo
    Osaka Ottawa Perth Porto Prague Quito Recife Reykjavik Riga Rotterdam Salzburg Santiago Sapporo Seattle
    Seoul Seville Sofia Stockholm Tallinn Tampere Tbilisi Toronto Turin Utrecht Valencia Vancouver Vienna Vilnius
    Warsaw Wellington York Zagreb Zurich New_York San_Diego Cape_Town Buenos_Aires Kuala_Lumpur Ho_Chi_Minh_City
    Sao_Paulo New_Orleans Los_Angeles Hong_Kong Mexico_City St._Gallen Port_Louis""".split()
)
COUNTRIES = tuple(
    """Argentina Australia Austria Bangladesh Belgium Bolivia Brazil Canada Chile Colombia Croatia Denmark Egypt
    Estonia Ethiopia Finland France Germany Ghana Greece Hungary Iceland India Indonesia Ireland Italy Japan
    Kenya Latvia Malaysia Mexico Morocco Nepal Netherlands Nigeria Norway Pakistan Peru Poland Portugal Romania
    Senegal Serbia Singapore Slovakia Slovenia Spain Sweden Switzerland Thailand Tunisia Turkey Uganda Ukraine
    Uruguay Vietnam Zambia South_Africa New_Zealand Costa_Rica""".split()
)
STREETS = tuple(
    """Maple Oak Cedar Elm Birch Station High Church Mill Park Victoria King Queen Garden River Lake Hill Bridge
    Market School Harbour Forest Meadow Sunset Highland Orchard Willow Chestnut Canal Castle Linden Rosewood
    Foundry Weaver Tanner Cooper Abbey Quarry Lantern Falcon""".split()
)
STREET_KINDS = tuple("Street Road Lane Avenue Drive Way Close Court Boulevard Place Square".split())
PRODUCTS = tuple(
    """desk lamp|office chair|wireless mouse|USB-C cable|notebook|water bottle|coffee grinder|yoga mat|backpack|
    bike pump|garden hose|paint roller|steel bolts|printer paper|ink cartridge|phone case|headphones|webcam|
    monitor stand|mechanical keyboard|extension cord|LED bulb|kettle|toaster|frying pan|chef knife|cutting board|
    tea towel|bath mat|shower head|door hinge|wood screws|sandpaper|safety goggles|work gloves|rain jacket|
    hiking boots|wool socks|sleeping bag|camping stove|tent pegs|fishing rod|tennis balls|football|jump rope|
    dumbbell set|picture frame|wall clock|vase|candle|throw pillow|curtain rod|rug|bookshelf|drawer organiser|
    label maker|stapler|whiteboard marker|sticky notes|envelope box|tape dispenser|hard drive|memory card|
    router|smart plug|thermostat|smoke detector|door lock|car charger|wiper blades|motor oil|brake pads|tyre|
    dog leash|cat litter|bird feeder|fish food|hay bale|olive oil|basmati rice|green tea|dark chocolate|almonds|
    honey|oat milk|sourdough bread|goat cheese|cherry tomatoes|red onions|spinach|salmon fillet|chicken thighs|
    sparkling water|espresso beans|orange juice|cinnamon|sea salt|balsamic vinegar|face cream|shampoo|toothpaste|
    hand soap|sunscreen|razor blades|bandages|vitamin D|paracetamol|baby wipes|toy train|puzzle|board game|
    colouring pencils|sketchbook|guitar strings|drum sticks|piano stool|violin bow|music stand|solder wire|
    resistor kit|circuit board|fan filter|pump seal|gear wheel|hex key set|torque wrench|drill bit""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)
ADJECTIVES = tuple(
    """red blue green black white grey small large mini deluxe classic compact folding portable heavy-duty
    recycled organic vintage slim double waterproof cordless adjustable premium basic oval round matte""".split()
)
NOUNS = tuple(
    """anchor arrow atlas badge banner basin beacon blossom bridge bucket cabin candle canyon castle cellar
    circuit cloud cobalt comet compass copper coral corner cotton crystal current delta desert drift echo ember
    engine falcon feather fern field flint forest fountain gallery garden gate glacier granite grove harbor
    harvest hazel horizon island ivory jungle kettle lagoon lantern laurel ledger lemon lever lotus magnet maple
    marble meadow mercury meteor mirror mosaic nectar nova oasis olive onyx orbit orchid otter panel paper
    pebble pepper pillar pine planet plaza pocket prairie prism quartz quill raven reef ribbon ridge river
    rocket saddle sail sand sapphire shadow signal silver spark spring spruce stone storm summit sunset table
    temple thistle thunder tiger timber tower trail tulip tunnel valley velvet violet walnut wave willow window
    winter zephyr""".split()
)
VERBS_ING = tuple(
    """planning reviewing testing cleaning painting packing repairing shipping printing counting moving hiring
    training budgeting mapping tracking editing filming baking designing""".split()
)
JOBS = tuple(
    """accountant|architect|baker|barista|bus driver|carpenter|chef|civil engineer|data analyst|dentist|designer|
    electrician|farmer|firefighter|florist|graphic designer|guide|hairdresser|HR manager|journalist|lab technician|
    lawyer|librarian|logistics planner|mechanic|midwife|music teacher|nurse|optician|paramedic|pharmacist|
    photographer|physiotherapist|pilot|plumber|product manager|project manager|receptionist|research assistant|
    sales manager|secretary|security officer|social worker|software developer|stage manager|surgeon|surveyor|
    tailor|teacher|translator|UX researcher|vet|waiter|warehouse clerk|welder|zoologist""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)
TOPICS = tuple(
    """recycling|chess|solar power|jazz|gardening|astronomy|typography|public health|cycling|robotics|data privacy|
    bird watching|ceramics|street food|urban planning|machine learning|volcanoes|mental health|opera|beekeeping|
    photography|local history|supply chains|marketing|nutrition|marathon training|home brewing|tax law|sailing|
    ancient Rome|poetry|cloud security|onboarding|remote work|wildfires|coral reefs|weather radar|water quality|
    accessibility|game design|podcasting|woodwork|film music|genetics|battery storage|open data|knitting|
    first aid|public speaking|team building|road safety|budget review|product launch|customer support""".replace(
        "\n", ""
    )
    .replace("    ", "")
    .split("|")
)
SKILLS = tuple(
    """Python|Excel|negotiation|welding|SQL|Figma|first aid|project planning|German|French|Spanish|Arabic|Mandarin|
    copywriting|bookkeeping|Java|Rust|forklift licence|public speaking|CAD|Photoshop|data entry|video editing|
    SAP|networking|Kubernetes|event planning|translation|typing|R|Tableau|plumbing|driving licence|cooking""".replace(
        "\n", ""
    )
    .replace("    ", "")
    .split("|")
)
INGREDIENTS = tuple(
    """flour|sugar|butter|eggs|milk|salt|black pepper|garlic|onion|olive oil|rice|lentils|tomatoes|basil|parsley|
    cumin|paprika|ginger|soy sauce|honey|lemon juice|yoghurt|cream|cheddar|mushrooms|carrots|potatoes|chickpeas|
    coconut milk|chili flakes|vanilla|baking powder|cocoa|walnuts|spinach|vinegar|mustard|noodles|tofu""".replace(
        "\n", ""
    )
    .replace("    ", "")
    .split("|")
)
GENRES = tuple(
    "thriller|romance|science fiction|comedy|drama|documentary|jazz|folk|hip hop|classical|horror|fantasy|"
    "biography|rock|ambient|historical fiction|western|animation|blues|reggae|mystery".split("|")
)
LANGUAGES = tuple(
    """English German French Spanish Portuguese Italian Dutch Polish Czech Turkish Arabic Hebrew Hindi Bengali Tamil
    Urdu Swahili Yoruba Japanese Korean Mandarin Cantonese Vietnamese Thai Greek Finnish Swedish Norwegian Danish
    Hungarian Romanian Ukrainian Catalan Basque Welsh Irish""".split()
)
CUISINES = tuple(
    "Italian Thai Ethiopian Mexican Japanese Lebanese Indian Greek French Korean Peruvian Vietnamese Turkish "
    "Moroccan Spanish Georgian vegan Persian".split()
)
DEPARTMENTS = tuple(
    "Finance|Human Resources|Logistics|Marketing|Sales|Legal|IT|Procurement|Research|Customer Care|Facilities|"
    "Engineering|Radiology|Cardiology|Quality|Operations|Communications|Purchasing|Warehouse B|Security".split("|")
)
SERVICES = tuple(
    "auth billing checkout gateway inventory mailer payments search sessions uploads worker scheduler cache "
    "ingest metrics notifier orders profile router sync thumbnailer".split()
)
SYMPTOMS = tuple(
    "dry cough|mild fever|headache|sore throat|back pain|nausea|dizziness|skin rash|fatigue|swollen ankle|"
    "blurred vision|chest tightness|insomnia|stomach cramps|runny nose|knee pain".split("|")
)
DRUGS = tuple(
    "amoxicillin ibuprofen metformin lisinopril omeprazole cetirizine atorvastatin salbutamol prednisolone "
    "levothyroxine sertraline warfarin".split()
)
COLOURS = tuple("red blue green black white grey yellow orange purple brown beige navy silver pink teal".split())
MATERIALS = tuple("oak steel cotton linen leather glass ceramic aluminium bamboo wool plastic granite".split())
AIRLINES = tuple(
    "Norwind Air|Blue Fjord|Sahel Airways|Pacific Crest|Andes Connect|Baltic Wings|Skylark|TransMeridian".split("|")
)
PAYMENT_METHODS = tuple("credit card|bank transfer|cash|PayPal|debit card|invoice|gift card|cheque".split("|"))
WEEKDAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
MONTHS = tuple(
    "January February March April May June July August September October November December".split()
)
_ONSETS = "b br c ch d dr f fl g gr h j k kl l m n p pr qu r s sh st t tr v w z".split()
_VOWELS = "a e i o u ai ea ia io oo ou".split()
_CODAS = ["", "", "", "l", "n", "r", "s", "x", "k", "m", "th", "nd", "rt"]


def invented(rng: random.Random, *, syllables: int | None = None) -> str:
    """A pronounceable word that means nothing, in lower case."""
    count = syllables or rng.choice((1, 2, 2, 2, 3))
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(count))


def pick(rng: random.Random, pool: tuple[str, ...]) -> str:
    """A word of a pool; ``_`` in it stands for a space."""
    return rng.choice(pool).replace("_", " ")
